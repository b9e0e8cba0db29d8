internal import CGit
internal import Foundation

/// Which paths the `.gitignore` files of one commit exclude, whatever is in a work tree.
///
/// The files are written to a private folder, where libgit2 reads them. So the answer is Git's own, and no file that a
/// step wrote has an influence. Use it on one thread.
public final class IgnoreRules {
    private let repository: Repository
    private let folder: String

    /// - Parameters:
    ///   - tree: The commit's tree.
    ///   - store: The repository that has it.
    /// - folder: A folder that is made now, and removed together with this object.
    public init(ofTree tree: OID, in store: Repository, at folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        repository = Repository(owning: try Repository.initialise(folder, bare: false))
        for entry in try store.entries(ofTree: tree, recursive: true)
        where entry.name == ".gitignore" && [.blob, .executable].contains(entry.kind) {
            // A tree may contain any name, and this one becomes a path on the disk.
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

    /// The longest file, in bytes. A longer one is not a list of patterns.
    private static let mostBytes = 1 << 20

    /// Whether Git ignores the path if it is not tracked.
    ///
    /// - Parameter path: Relative to the root, as bytes, because a name may not be UTF-8.
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
