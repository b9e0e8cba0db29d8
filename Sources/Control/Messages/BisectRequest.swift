public import Results

/// A search for the commit that broke a test.
public struct BisectRequest: Sendable, Codable {
    /// The name of the test in reports, or a part of it that no other test has.
    public var test: String
    /// The repository's path, URL or name.
    public var repository: String
    /// Nil for the workflow in which the test ran last.
    public var workflow: String?
    /// The branch whose first parents are searched; nil for the branch that changes merge into.
    public var branch: String?
    /// A commit at which the test passes; nil to search for one.
    public var good: String?
    /// A commit at which the test fails; nil for the tip of the branch.
    public var bad: String?
    /// Whether the answer is checked by another run of the commit and of the one before it.
    public var verifies = true

    public init(test: String, repository: String) {
        self.test = test
        self.repository = repository
    }
}

/// The progress of a bisection and its result.
public enum BisectProgress: Sendable, Codable {
    /// One line for people.
    case note(String)
    case found(BisectAnswer)
    /// No commit was found; the sentence says why.
    case nothing(String)
}
