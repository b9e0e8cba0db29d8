internal import CGit

/// An entry of a tree.
public struct TreeEntry: Sendable, Equatable {
    /// What a tree entry is.
    public enum Kind: Sendable {
        case blob, executable, symlink, tree, submodule
    }

    /// The last part of ``path``.
    public var name: String
    /// Relative to the tree that was listed, with slashes.
    public var path: String
    /// What the entry is.
    public var kind: Kind
    /// The id of its object; for a submodule, of a commit in another repository.
    public var id: OID

    public init(name: String, path: String, kind: Kind, id: OID) {
        self.name = name
        self.path = path
        self.kind = kind
        self.id = id
    }
}

extension TreeEntry.Kind {
    init(_ mode: git_filemode_t) {
        self =
            switch mode {
            case GIT_FILEMODE_TREE: .tree
            case GIT_FILEMODE_COMMIT: .submodule
            case GIT_FILEMODE_LINK: .symlink
            case GIT_FILEMODE_BLOB_EXECUTABLE: .executable
            default: .blob
            }
    }
}

/// A file of a tree that is to be written: its content, which is stored already, and whether it is executable.
public struct TreeFile: Sendable, Equatable {
    /// The id of the stored content.
    public var blob: OID
    /// Whether its mode is 100755.
    public var isExecutable: Bool

    public init(blob: OID, isExecutable: Bool = false) {
        self.blob = blob
        self.isExecutable = isExecutable
    }

    /// A regular file with the content of the blob `id`.
    public static func blob(_ id: OID, executable: Bool = false) -> TreeFile {
        TreeFile(blob: id, isExecutable: executable)
    }
}
