internal import CGit

/// A file that differs between two commits.
public struct FileChange: Sendable, Equatable, Codable {
    /// What happened to the file.
    public enum Status: String, Sendable, Codable {
        case added, deleted, modified, renamed, copied, typeChanged
    }

    /// What happened to the file.
    public var status: Status
    /// The path on the old side, if it differs: set for a renamed or copied file only.
    public var oldPath: String?
    /// Relative to the repository's root, with slashes. Bytes that are not UTF-8 appear as U+FFFD.
    public var path: String
    /// The number of added lines; 0 for a binary file.
    public var additions: Int
    /// The number of removed lines; 0 for a binary file.
    public var deletions: Int
    /// Whether it was not compared by lines, because it is binary or too large.
    public var isBinary: Bool

    public init(
        status: Status, oldPath: String? = nil, path: String, additions: Int, deletions: Int, isBinary: Bool = false
    ) {
        self.status = status
        self.oldPath = oldPath
        self.path = path
        self.additions = additions
        self.deletions = deletions
        self.isBinary = isBinary
    }

    init(_ delta: git_diff_delta, additions: Int, deletions: Int) {
        let old = delta.old_file.path.map { String(cString: $0) } ?? ""
        let new = delta.new_file.path.map { String(cString: $0) } ?? ""
        status =
            switch delta.status {
            case GIT_DELTA_ADDED: .added
            case GIT_DELTA_DELETED: .deleted
            case GIT_DELTA_RENAMED: .renamed
            case GIT_DELTA_COPIED: .copied
            case GIT_DELTA_TYPECHANGE: .typeChanged
            default: .modified
            }
        oldPath = status == .renamed || status == .copied ? old : nil
        path = status == .deleted ? old : new
        self.additions = additions
        self.deletions = deletions
        isBinary = delta.flags & GIT_DIFF_FLAG_BINARY.rawValue != 0
    }
}
