public import Foundation

/// Which runs a list shows; what is nil does not matter.
public struct RunFilter: Sendable, Equatable {
    public var repository: String?
    public var workflow: String?
    /// A change's name.
    public var change: String?
    /// The branch that was tested, or the target of a change.
    public var branch: String?
    /// The first hexadecimal digits, of either case, of the pushed or the tested commit.
    public var commitPrefix: String?
    public var states: Set<RunState>?
    public var verdicts: Set<Verdict>?
    /// Only runs that were accepted at this time or later.
    public var since: Date?
    /// Only runs with a smaller number: where the next page begins.
    public var before: RunID?
    /// Whether runs are left out that the box wants of its own accord.
    public var hidesUpkeep = false
    public var limit: Int

    public init(
        repository: String? = nil, workflow: String? = nil, change: String? = nil, branch: String? = nil,
        commitPrefix: String? = nil, states: Set<RunState>? = nil, verdicts: Set<Verdict>? = nil,
        since: Date? = nil, before: RunID? = nil, limit: Int = 50
    ) {
        self.repository = repository
        self.workflow = workflow
        self.change = change
        self.branch = branch
        self.commitPrefix = commitPrefix
        self.states = states
        self.verdicts = verdicts
        self.since = since
        self.before = before
        self.limit = limit
    }
}

/// What of the target a run must have tested to be compared with.
public enum TestedTarget: Sendable, Equatable {
    /// Exactly this commit, pushed or merged.
    case commit(String)
    /// The branch itself, at any commit; runs of changes into it don't count.
    case branch(String)
}

/// One appearance of a test in the history, newest run first.
public struct TestAppearance: Sendable, Equatable, Codable {
    public var run: RunID
    public var workflow: String
    public var head: String
    public var branch: String?
    public var change: String?
    public var endedAt: Date?
    /// The test as it came out there; without details, and with a message only for a failure.
    public var result: TestResult
    /// What the box wanted the run for of its own accord, if it did.
    public var upkeep: RunRequest.Upkeep?

    public init(
        run: RunID, workflow: String, head: String, branch: String?, change: String?, endedAt: Date?, result: TestResult
    ) {
        self.run = run
        self.workflow = workflow
        self.head = head
        self.branch = branch
        self.change = change
        self.endedAt = endedAt
        self.result = result
    }
}
