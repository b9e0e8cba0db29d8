internal import CGit
internal import Foundation

/// Takes a pack that arrives in pieces into a repository.
///
/// The pack may be thin: deltas in it may be based on objects of the repository. Every id is computed from the bytes
/// that arrived, and every object that one of them names must be in the pack or in the repository.
///
/// Use it on one thread.
public final class PackReceiver {
    private let indexer: OpaquePointer
    private var progress = git_indexer_progress()
    /// `git_odb *`, owned; the indexer reads from it.
    private let objects: OpaquePointer

    public init(into repository: Repository) throws(GitError) {
        let objects = try Handle("git_repository_odb", free: git_odb_free) {
            git_repository_odb(&$0, repository.pointer)
        }
        var options = git_indexer_options()
        try git("git_indexer_options_init") {
            git_indexer_options_init(&options, UInt32(GIT_INDEXER_OPTIONS_VERSION))
        }
        options.verify = 1
        let folder = repository.commonDirectory + "/objects/pack"
        let base = objects.pointer
        let indexer = try Handle("git_indexer_new", free: git_indexer_free) {
            git_indexer_new(&$0, folder, 0, base, &options)
        }
        self.objects = objects.take()
        self.indexer = indexer.take()
    }

    deinit {
        git_indexer_free(indexer)
        git_odb_free(objects)
    }

    /// Takes the next bytes of the pack.
    public func append(_ bytes: UnsafeRawBufferPointer) throws(GitError) {
        try git("git_indexer_append") { git_indexer_append(indexer, bytes.baseAddress, bytes.count, &progress) }
    }

    /// Checks the pack and adds its objects to the repository. A repository that was open before sees them after a
    /// while; open it again to be sure.
    ///
    /// - Returns: The number of objects.
    /// - Throws: If the pack is damaged or incomplete; the repository is unchanged then.
    @discardableResult
    public func finish() throws(GitError) -> Int {
        try git("git_indexer_commit") { git_indexer_commit(indexer, &progress) }
        return Int(progress.indexed_objects)
    }
}
