public import Foundation

/// A test that both passed and failed on the same tree, so that a change of the code can't be the cause.
public struct FlakyTest: Sendable, Equatable, Codable {
    /// The suite's name; may be empty.
    public var suite: String
    /// The test's name in its suite.
    public var name: String
    /// The number of runs in the window in which it failed although it passed on the same tree, in that run or in
    /// another.
    public var flips: Int
    /// The number of runs in the window that have a result of the test.
    public var runs: Int
    /// The number of trees on which it both passed and failed.
    public var trees: Int
    /// The newest run that is counted in ``flips``.
    public var lastRun: RunID
    /// The workflow of ``lastRun``.
    public var lastWorkflow: String
    public var lastEndedAt: Date?
    /// Its message in that run.
    public var lastMessage: String?
    /// The oldest run that is counted in ``flips``, and when it ended.
    public var firstRun: RunID?
    public var firstEndedAt: Date?
    /// One character for each of its newest 40 results, oldest first (``Sparkline/results(of:)``); nil if not
    /// requested.
    public var plot: String?

    /// Identifies the test across runs.
    public var id: String { suite.isEmpty ? name : suite + "/" + name }

    /// The part of its runs, from 0 to 1, in which it failed without a cause in the tree.
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

/// Which runs are searched for tests.
public struct TestFilter: Sendable, Equatable, Codable {
    /// The repository's name; nil: all repositories.
    public var repository: String?
    /// The workflow's name; nil: all workflows.
    public var workflow: String?
    /// Only this many of the newest ended runs with tests. For the history of a test: only this many results.
    public var limit: Int

    public init(repository: String? = nil, workflow: String? = nil, limit: Int = 1_000) {
        self.repository = repository
        self.workflow = workflow
        self.limit = limit
    }
}
