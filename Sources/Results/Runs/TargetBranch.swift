/// The branch that changes of a repository want into, and who named it.
public struct TargetBranch: Sendable, Equatable, Codable {
    /// Who named the branch.
    public enum Source: String, Sendable, Codable {
        /// The repository: its `HEAD` at the first look.
        case head
        /// A person, with `pipectl protect` or `--target`.
        case person
        /// Nobody: `HEAD` named no branch, and this one has a usual name. Nothing counts as merged for being in it.
        case guess
    }

    /// The name without `refs/heads/`; empty where not even a guess was possible.
    public var name: String
    public var source: Source

    public init(_ name: String, _ source: Source) {
        self.name = name
        self.source = source
    }

    /// Whether commits in the branch count as merged.
    public var isProtected: Bool { source != .guess }
}
