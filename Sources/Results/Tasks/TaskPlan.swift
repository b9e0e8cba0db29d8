/// What an agent wants to do for a task, before it does it.
public struct TaskPlan: Sendable, Equatable, Codable {
    /// From 1; a plan that answers a remark has the next number.
    public var version: Int
    /// One or two sentences.
    public var summary: String
    /// How it is to be done, in Markdown.
    public var approach: String
    /// The paths, or globs, of the files that it will change or add.
    public var files: [String]
    /// The tests that it will add or change, in words.
    public var tests: [String]
    /// What speaks against it, and what else was considered.
    public var tradeoffs: String

    public init(
        version: Int, summary: String, approach: String, files: [String], tests: [String], tradeoffs: String
    ) {
        self.version = version
        self.summary = summary
        self.approach = approach
        self.files = files
        self.tests = tests
        self.tradeoffs = tradeoffs
    }
}
