public import Foundation
public import Pipeline

/// Where a run is on its way from wanted to done.
public enum RunState: String, Sendable, Codable, CaseIterable {
    /// Accepted; waits for a slot, a resource, or an older run of its subject.
    case queued
    case running
    /// Has its one verdict.
    case ended
}

/// What a list of runs shows of one run.
public struct RunSummary: Sendable, Equatable, Codable, Identifiable {
    public var id: RunID
    public var repository: String
    public var workflow: String
    public var event: Trigger.Event
    /// The full ref that moved.
    public var ref: String
    /// The target of a change, else the branch; nil for a tag.
    public var branch: String?
    /// The pushed commit.
    public var head: String
    /// The commit that was tested, once the run ended.
    public var testedCommit: String?
    /// The change's name, for the run of a change.
    public var change: String?
    /// The first line of the change's head commit.
    public var title: String?
    public var state: RunState
    /// Set when, and only when, the state is ``RunState/ended``.
    public var verdict: Verdict?
    /// Why, in one sentence; nil until the run ended.
    public var reason: String?
    /// How often the run was started: 0 while it waits for the first time.
    public var attempt: Int
    public var createdAt: Date
    public var startedAt: Date?
    public var endedAt: Date?
    public var rerunOf: RunID?
    /// The newer run that took, or is taking, this one's place.
    public var supersededBy: RunID?
    public var testCounts: TestCounts
    /// Of the steps whose end is known.
    public var stepCounts: StepCounts
    /// Whether the archive has the run's report.
    public var isArchived: Bool
    /// How far the code is trusted, once that was decided.
    public var trust: Trust?
    /// Why the run waits for a person before its first step; nil if it does not.
    public var heldFor: String?
    /// What the box wanted the run for of its own accord; nil for a run that somebody waits for.
    public var upkeep: RunRequest.Upkeep?
    /// What it has to do with mending another run; nil for nothing.
    public var fix: FixRole?
    /// What was done about its failure; nil where nobody tries to mend it.
    public var fixState: FixSeries.State?

    /// From start to end, in seconds; nil unless both are known.
    public var duration: Double? {
        guard let startedAt, let endedAt else { return nil }
        return endedAt.timeIntervalSince(startedAt)
    }

    public init(
        id: RunID, repository: String, workflow: String, event: Trigger.Event, ref: String, branch: String?,
        head: String, testedCommit: String? = nil, change: String? = nil, title: String? = nil, state: RunState,
        verdict: Verdict? = nil, reason: String? = nil, attempt: Int = 0, createdAt: Date, startedAt: Date? = nil,
        endedAt: Date? = nil, rerunOf: RunID? = nil, supersededBy: RunID? = nil,
        testCounts: TestCounts = TestCounts(), stepCounts: StepCounts = StepCounts(), isArchived: Bool = false,
        trust: Trust? = nil, heldFor: String? = nil
    ) {
        self.id = id
        self.repository = repository
        self.workflow = workflow
        self.event = event
        self.ref = ref
        self.branch = branch
        self.head = head
        self.testedCommit = testedCommit
        self.change = change
        self.title = title
        self.state = state
        self.verdict = verdict
        self.reason = reason
        self.attempt = attempt
        self.createdAt = createdAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.rerunOf = rerunOf
        self.supersededBy = supersededBy
        self.testCounts = testCounts
        self.stepCounts = stepCounts
        self.isArchived = isArchived
        self.trust = trust
        self.heldFor = heldFor
    }
}

/// How many steps came out how.
public struct StepCounts: Sendable, Equatable, Codable {
    public var passed: Int
    /// Failed, timed out, or broken by the box.
    public var failed: Int
    public var skipped: Int
    public var cancelled: Int

    public init(passed: Int = 0, failed: Int = 0, skipped: Int = 0, cancelled: Int = 0) {
        self.passed = passed
        self.failed = failed
        self.skipped = skipped
        self.cancelled = cancelled
    }
}

/// One run as the index knows it: its summary, what it was asked to do, and its steps so far.
public struct IndexedRun: Sendable, Equatable, Identifiable {
    public var summary: RunSummary
    public var request: RunRequest
    /// In the order in which they ended; in the plan's order once the run ended.
    public var steps: [StepSummary]
    /// What people were asked about it, oldest first.
    public var approvals: [Approval]

    public var id: RunID { summary.id }

    public init(summary: RunSummary, request: RunRequest, steps: [StepSummary], approvals: [Approval] = []) {
        self.summary = summary
        self.request = request
        self.steps = steps
        self.approvals = approvals
    }
}

/// What the index keeps of a step; its attempts and logs are in the report.
public struct StepSummary: Sendable, Equatable, Codable {
    public var name: String
    public var status: StepStatus
    public var reason: String?
    /// From the start of the first attempt to the end of the last one, in seconds.
    public var duration: Double?
    public var attempts: Int

    public init(name: String, status: StepStatus, reason: String? = nil, duration: Double? = nil, attempts: Int) {
        self.name = name
        self.status = status
        self.reason = reason
        self.duration = duration
        self.attempts = attempts
    }
}
