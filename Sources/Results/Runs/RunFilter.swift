public import Foundation

/// Which runs a list shows. A property that is nil does not filter.
public struct RunFilter: Sendable, Equatable {
    /// The watched repository's name.
    public var repository: String?
    /// The workflow's name.
    public var workflow: String?
    /// A change's name.
    public var change: String?
    /// The branch that was tested, or the target of a change.
    public var branch: String?
    /// The first hexadecimal digits, upper or lower case, of the pushed or the tested commit.
    public var commitPrefix: String?
    /// Only runs in one of these states.
    public var states: Set<RunState>?
    /// Only runs with one of these verdicts. Runs that wait for an approval count as "needs approval".
    public var verdicts: Set<Verdict>?
    /// Only runs that were accepted at this time or later.
    public var since: Date?
    /// Only runs with a smaller number: the end of the previous page.
    public var before: RunID?
    /// Whether background runs are left out.
    public var hidesUpkeep = false
    /// The most runs that are listed.
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

/// Which commit of the target a run must have tested to be compared with.
public enum TestedTarget: Sendable, Equatable {
    /// Exactly this commit, pushed or merged.
    case commit(String)
    /// Any commit of the branch itself. Runs of changes into it don't count.
    case branch(String)
}

/// One result of a test in the history, newest run first.
public struct TestAppearance: Sendable, Equatable, Codable {
    /// The run that had the result.
    public var run: RunID
    /// The workflow's name.
    public var workflow: String
    /// The pushed commit of that run.
    public var head: String
    /// The branch's name; nil for a tag.
    public var branch: String?
    /// The change's name, if the run tested one.
    public var change: String?
    /// Nil while the run has not ended.
    public var endedAt: Date?
    /// The test's result in that run, without details, and with a message only if it failed.
    public var result: TestResult
    /// The kind of background run; nil for other runs.
    public var upkeep: BackgroundRun?

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
