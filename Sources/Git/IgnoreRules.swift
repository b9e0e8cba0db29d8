internal import CGit
internal import Foundation

/// What the `.gitignore` files of one commit leave out, whatever is in any work tree.
///
/// The files are put where nobody else can write, and libgit2 reads them there: its answer is Git's own, and no file that
/// a step wrote takes part. Used on one thread.
public final class IgnoreRules {
    private let repository: Repository
    private let folder: String

    /// - Parameters:
    ///   - tree: The commit's tree.
    ///   - store: The repository that has it.
    ///   - folder: Made, used while this lives, and removed with it.
    public init(ofTree tree: OID, in store: Repository, at folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        repository = Repository(owning: try Repository.initialise(folder, bare: false))
        for entry in try store.entries(ofTree: tree, recursive: true)
        where entry.name == ".gitignore" && [.blob, .executable].contains(entry.kind) {
            // A tree may hold any name at all, and this one becomes a path on the disk.
            let parts = entry.path.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.dropLast().allSatisfy({ TreeName.problem(Array($0.utf8)) == nil }),
                try store.size(of: entry.id) <= IgnoreRules.mostBytes
            else { continue }
            let path = "\(folder)/\(entry.path)"
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(try store.blob(entry.id)).write(to: URL(fileURLWithPath: path))
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Bytes of one file; a longer one is no list of patterns.
    private static let mostBytes = 1 << 20

    /// Whether Git would leave the path out if it is not tracked.
    ///
    /// - Parameter path: Relative to the root; of a name that is not UTF-8 the bytes.
    public func ignores(_ path: [UInt8], isFolder: Bool) -> Bool {
        var ignored: Int32 = 0
        let text = (path + (isFolder ? [0x2f] : [])).map { CChar(bitPattern: $0) } + [0]
        guard git_ignore_path_is_ignored(&ignored, repository.pointer, text) == 0 else {
            git_error_clear()
            return false
        }
        return ignored == 1
    }
}
