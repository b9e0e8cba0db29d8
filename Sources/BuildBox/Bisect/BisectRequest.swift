public import Results

/// Which test's breakage is looked for, and where.
public struct BisectRequest: Sendable, Codable {
    /// The test as a report names it, or a part of that which only one has.
    public var test: String
    /// The repository's path, URL or name.
    public var repository: String
    /// Nil for the one in which the test ran last.
    public var workflow: String?
    /// The branch whose line of first parents is looked at; nil for the one that changes want into.
    public var branch: String?
    /// A commit in which it passes; nil to look for one.
    public var good: String?
    /// A commit in which it fails; nil for the branch's tip.
    public var bad: String?
    /// Whether the answer is checked by running both sides of it once more.
    public var verifies = true

    public init(test: String, repository: String) {
        self.test = test
        self.repository = repository
    }
}

/// How far a bisection is, and what it came to.
public enum BisectProgress: Sendable, Codable {
    /// One line for people.
    case note(String)
    case found(BisectAnswer)
    /// There is nothing to name: why, as a sentence.
    case nothing(String)
}
