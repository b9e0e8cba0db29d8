internal import CGit
internal import Foundation

extension Repository {
    /// Whether the work tree has no changes against `HEAD`. Untracked files count as changes, ignored ones do not.
    ///
    /// - Throws: `.bareRepository` if there is no work tree.
    public func isClean() throws(GitError) -> Bool {
        var options = git_status_options()
        try git("git_status_options_init") { git_status_options_init(&options, UInt32(GIT_STATUS_OPTIONS_VERSION)) }
        options.show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR
        options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED.rawValue
        let list = try Handle("git_status_list_new", free: git_status_list_free) {
            git_status_list_new(&$0, pointer, &options)
        }
        return git_status_list_entrycount(list.pointer) == 0
    }

    /// Stores the work tree, including uncommitted and untracked files, as a commit on top of `HEAD`.
    ///
    /// The user's index and refs are not touched. Ignored files are left out; the user's global ignore file is not
    /// read. Repositories in the work tree that are not submodules are left out, because Git has none of their files.
    ///
    /// - Parameter store: Where objects are written, a repository that must borrow from this one; nil: this one.
    /// - Throws: `.bareRepository` if there is no work tree.
    public func snapshotWorkingTree(author: Signature, into store: Repository? = nil) throws(GitError) -> OID {
        guard let folder = workDirectory else {
            throw GitError(
                call: "snapshotWorkingTree", code: .bareRepository,
                message: "\"\(gitDirectory)\" is bare and has no working tree. Give a commit instead.")
        }
        let head = try ref("HEAD")
        // Another handle, because it gets an index and objects that this one must not have.
        let other = try Repository(opening: folder)
        if let store {
            let odb = try Handle("git_repository_odb", free: git_odb_free) { git_repository_odb(&$0, store.pointer) }
            try git("git_repository_set_odb") { git_repository_set_odb(other.pointer, odb.pointer) }
        }
        let file = NSTemporaryDirectory() + "pipectl-index-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: file) }
        // A copy of the user's index knows which files are unchanged, so only the others are read.
        try? FileManager.default.copyItem(atPath: gitDirectory + "/index", toPath: file)
        let index = try Handle("git_index_open", free: git_index_free) { git_index_open(&$0, file) }
        try git("git_repository_set_index") { git_repository_set_index(other.pointer, index.pointer) }
        try git("git_index_add_all") {
            // A repository that is not a submodule, such as a clone, has a path that ends in a slash, and is skipped.
            git_index_add_all(
                index.pointer, nil, GIT_INDEX_ADD_DEFAULT.rawValue,
                { path, _, _ in path.map { String(cString: $0).hasSuffix("/") ? 1 : 0 } ?? 0 }, nil)
        }
        var tree = git_oid()
        try git("git_index_write_tree_to") { git_index_write_tree_to(&tree, index.pointer, other.pointer) }
        return try (store ?? self).createCommit(
            tree: OID(tree), parents: [head].compactMap { $0 }, author: author, committer: author,
            message: "Work tree of \(folder)\n")
    }
}
