public import Foundation
public import Pipeline

/// How far a run is between being accepted and having a verdict.
public enum RunState: String, Sendable, Codable, CaseIterable {
    /// Accepted; waits for a slot, a resource, or an older run of its subject.
    case queued
    case running
    /// The run has its verdict.
    case ended
}

/// What a list of runs shows of each run.
public struct RunSummary: Sendable, Equatable, Codable, Identifiable {
    /// The run's number.
    public var id: RunID
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// The event that started the run.
    public var event: Trigger.Event
    /// The full ref that moved.
    public var ref: String
    /// The target of a change, otherwise the branch; nil for a tag.
    public var branch: String?
    /// The pushed commit.
    public var head: String
    /// The commit that was tested; nil until the run ended.
    public var testedCommit: String?
    /// The change's name; nil unless the run tests one.
    public var change: String?
    /// The first line of the message of the change's head commit.
    public var title: String?
    /// How far the run is.
    public var state: RunState
    /// Set if and only if the state is ``RunState/ended``.
    public var verdict: Verdict?
    /// The reason for the verdict, in one sentence; nil until the run ended.
    public var reason: String?
    /// How often the run was started; 0 before its first start.
    public var attempt: Int
    /// When the run was accepted.
    public var createdAt: Date
    /// When its first attempt started; nil if it never started.
    public var startedAt: Date?
    /// When it got its verdict; nil if it has none.
    public var endedAt: Date?
    /// The run that this run repeats.
    public var rerunOf: RunID?
    /// The newer run that superseded, or is superseding, this one.
    public var supersededBy: RunID?
    /// Each test counted once, by its last try.
    public var testCounts: TestCounts
    /// Counts the steps that have ended.
    public var stepCounts: StepCounts
    /// Whether the report is in the archive.
    public var isArchived: Bool
    /// How far the code is trusted; nil until that is decided.
    public var trust: Trust?
    /// Why the run waits for an approval, before its first step or between its steps; nil if it does not.
    public var heldFor: String?
    /// The kind of background run; nil for other runs.
    public var upkeep: BackgroundRun?
    /// The run's part in fixing another run; nil for other runs.
    public var fix: FixRole?
    /// How far the attempts at fixing its failure are; nil if there are none.
    public var fixState: FixSeries.State?
    /// The run's part in a task; nil for other runs.
    public var task: TaskRole?

    /// Seconds from start to end; nil unless both times are known.
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

/// The numbers of steps by status.
public struct StepCounts: Sendable, Equatable, Codable {
    /// Steps that passed, or were proved.
    public var passed: Int
    /// Steps that failed, timed out, or ended by infrastructure.
    public var failed: Int
    /// Steps that were not run because of other steps.
    public var skipped: Int
    /// Steps that were ended by a cancellation.
    public var cancelled: Int

    public init(passed: Int = 0, failed: Int = 0, skipped: Int = 0, cancelled: Int = 0) {
        self.passed = passed
        self.failed = failed
        self.skipped = skipped
        self.cancelled = cancelled
    }
}

/// A run as the store has it: its summary, its request, and its steps so far.
public struct IndexedRun: Sendable, Equatable, Identifiable {
    /// What lists of runs show.
    public var summary: RunSummary
    /// What the run was asked to do.
    public var request: RunRequest
    /// In the order in which they ended; once the run has ended, in the plan's order.
    public var steps: [StepSummary]
    /// The approvals that it needed, oldest first.
    public var approvals: [Approval]

    /// The run's number.
    public var id: RunID { summary.id }

    public init(summary: RunSummary, request: RunRequest, steps: [StepSummary], approvals: [Approval] = []) {
        self.summary = summary
        self.request = request
        self.steps = steps
        self.approvals = approvals
    }
}

/// What the store keeps of a step. The report has its attempts and logs.
public struct StepSummary: Sendable, Equatable, Codable {
    /// The step's name.
    public var name: String
    /// The result of the last attempt.
    public var status: StepStatus
    /// The reason for the status, if it is not "passed".
    public var reason: String?
    /// Seconds from the start of the first attempt to the end of the last one.
    public var duration: Double?
    /// How often the step was attempted; 0 if it was not run.
    public var attempts: Int

    public init(name: String, status: StepStatus, reason: String? = nil, duration: Double? = nil, attempts: Int) {
        self.name = name
        self.status = status
        self.reason = reason
        self.duration = duration
        self.attempts = attempts
    }
}

extension RunSummary {
    /// As ``RunRequest/isAside``.
    public var isAside: Bool { fix != nil || task != nil }
}
