public import Foundation

/// A test that came out both ways on the same tree: nothing that it tests can have changed in between.
public struct FlakyTest: Sendable, Equatable, Codable {
    public var suite: String
    public var name: String
    /// Runs of the window in which it failed although it also passed on their tree, there or in another run.
    public var flips: Int
    /// Runs of the window that have a result of it.
    public var runs: Int
    /// Trees on which it came out both ways.
    public var trees: Int
    /// The newest run that counts among ``flips``.
    public var lastRun: RunID
    public var lastWorkflow: String
    public var lastEndedAt: Date?
    /// What it said there.
    public var lastMessage: String?
    /// The oldest run of the window that counts among ``flips``, and when it ended.
    public var firstRun: RunID?
    public var firstEndedAt: Date?
    /// A sign for each run that its newest 40 results are of, oldest first (``Sparkline/results(of:)``); nil where none was
    /// asked for.
    public var plot: String?

    /// What names the test across runs.
    public var id: String { suite.isEmpty ? name : suite + "/" + name }

    /// From 0 to 1: the part of its runs in which it failed for no reason that is in the tree.
    public var rate: Double { runs == 0 ? 0 : Double(flips) / Double(runs) }

    public init(
        suite: String, name: String, flips: Int, runs: Int, trees: Int, lastRun: RunID, lastWorkflow: String,
        lastEndedAt: Date? = nil, lastMessage: String? = nil, firstRun: RunID? = nil, firstEndedAt: Date? = nil
    ) {
        self.suite = suite
        self.name = name
        self.flips = flips
        self.runs = runs
        self.trees = trees
        self.lastRun = lastRun
        self.lastWorkflow = lastWorkflow
        self.lastEndedAt = lastEndedAt
        self.lastMessage = lastMessage
        self.firstRun = firstRun
        self.firstEndedAt = firstEndedAt
    }
}

/// Which runs are looked at for tests.
public struct TestFilter: Sendable, Equatable, Codable {
    /// nil for all repositories.
    public var repository: String?
    public var workflow: String?
    /// Only these newest ended runs that had tests; for a history, only so many appearances.
    public var limit: Int

    public init(repository: String? = nil, workflow: String? = nil, limit: Int = 1_000) {
        self.repository = repository
        self.workflow = workflow
        self.limit = limit
    }
}
