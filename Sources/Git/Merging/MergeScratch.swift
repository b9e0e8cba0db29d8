internal import CGit
internal import Foundation

/// A bare repository for `git merge-tree`: it borrows objects, and Git writes new ones only to it.
///
/// It has no settings, attributes, hooks or refs except those that are written here, so that neither the watched
/// repository nor a change can influence how Git merges. Its files need not survive a power cut.
public struct MergeScratch: Sendable {
    /// The repository's folder, absolute.
    public let path: String

    /// Makes one in `folder`, which is made if it is missing. It reads the objects of the repository at `lender`.
    public init(in folder: String, borrowing lender: String) throws {
        path = "\(folder)/\(UUID().uuidString)"
        let stores = try lendRepository(at: lender) { $0.objectStores() }
        let files = FileManager.default
        for part in ["objects/info", "refs"] {
            try files.createDirectory(atPath: "\(path)/\(part)", withIntermediateDirectories: true)
        }
        let contents = [
            "objects/info/alternates": stores.joined(separator: "\n") + "\n",
            "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
            // It points to a branch that does not exist, so that no commit's attributes apply.
            "HEAD": "ref: refs/heads/none\n",
        ]
        for (name, text) in contents { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)")) }
    }

    /// Removes the repository.
    public func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Removes the repositories in `folder` that killed processes left more than an hour ago.
    public static func clear(_ folder: String) {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: folder)) ?? [] {
            let made = (try? files.attributesOfItem(atPath: "\(folder)/\(name)"))?[.modificationDate] as? Date
            if let made, made < Date(timeIntervalSinceNow: -3_600) {
                try? files.removeItem(atPath: "\(folder)/\(name)")
            }
        }
    }
}

extension Repository {
    /// Copies `tree` and its objects from `other`, as far as this repository lacks them. The contents of a folder are
    /// copied before the folder, so that a tree that exists is complete.
    public func adopt(tree: OID, from other: Repository) throws(GitError) { try adopt(tree, from: other, depth: 0) }

    private func adopt(_ tree: OID, from other: Repository, depth: Int) throws(GitError) {
        guard !contains(tree) else { return }
        guard depth < 2_048 else {
            throw GitError(
                call: "adopt", code: .invalid, message: "The merged tree nests folders more than 2,048 deep.")
        }
        for entry in try other.entries(ofTree: tree, recursive: false) {
            switch entry.kind {
            case .tree: try adopt(entry.id, from: other, depth: depth + 1)
            case .submodule: continue
            case .blob, .executable, .symlink: if !contains(entry.id) { try copy(entry.id, from: other) }
            }
        }
        try copy(tree, from: other)
    }

    private func copy(_ id: OID, from other: Repository) throws(GitError) {
        let source = try Handle("git_repository_odb", free: git_odb_free) { git_repository_odb(&$0, other.pointer) }
        let own = try Handle("git_repository_odb", free: git_odb_free) { git_repository_odb(&$0, pointer) }
        try other.requireSize(of: id, atMost: 256 << 20)
        var raw = id.raw
        let object = try Handle("git_odb_read", free: git_odb_object_free) {
            git_odb_read(&$0, source.pointer, &raw)
        }
        try git("git_odb_write") {
            git_odb_write(
                &raw, own.pointer, git_odb_object_data(object.pointer), git_odb_object_size(object.pointer),
                git_odb_object_type(object.pointer))
        }
    }
}
