/// The branch that changes of a repository are merged into by default, and where its name comes from.
public struct TargetBranch: Sendable, Equatable, Codable {
    /// Where the branch's name comes from.
    public enum Source: String, Sendable, Codable {
        /// The repository's `HEAD` at the first observation.
        case head
        /// `pipectl protect` or `--target`.
        case person
        /// A usual name, because `HEAD` named no branch. No commit counts as merged because it is in this branch.
        case guess
    }

    /// The name without `refs/heads/`; empty if no branch has a usual name.
    public var name: String
    /// Where the name comes from.
    public var source: Source

    public init(_ name: String, _ source: Source) {
        self.name = name
        self.source = source
    }

    /// Whether commits in the branch count as merged.
    public var isProtected: Bool { source != .guess }
}
