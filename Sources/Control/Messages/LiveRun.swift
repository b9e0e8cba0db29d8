public import Foundation
public import Results

/// A run that is under way, as a terminal shows it.
public struct LiveRun: Sendable, Equatable, Codable, Identifiable {
    /// A step that waits, runs or has ended.
    public struct Step: Sendable, Equatable, Codable, Identifiable {
        /// The step's record so far.
        public var record: StepRecord
        /// What keeps a step from starting although the steps that it needs have passed: a slot, a lock, an approval.
        public var waitsFor: String?
        /// Whether it waits for a person's approval.
        public var awaitsApproval = false
        /// The newest line of its output, escaped for a terminal.
        public var lastLine: String?
        /// Bytes of output of the current attempt.
        public var bytes = 0
        /// The number of the current attempt, from 1; 0 before the first.
        public var attempt = 0
        /// The machine of the current attempt, if that is not the run's.
        public var machine: String?
        /// When the first attempt began.
        public var startedAt: Date?

        /// The step's name.
        public var id: String { record.name }

        package init(record: StepRecord) { self.record = record }
    }

    /// The run's number.
    public var id: RunID
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// What is tested, in words: `change 7 into main`.
    public var subject: String
    /// What the daemon does for the run now.
    public var phase: Phase
    /// The machine whose room it waits for, and why, as a sentence without its full stop; nil if it does not wait.
    public var waitsFor: String?
    /// The name of the machine that runs its steps; nil if that is the daemon's.
    public var machine: String?
    /// When this attempt of the run started.
    public var startedAt: Date
    /// The steps, in the plan's order; empty until the plan is known.
    public var steps: [Step] = []
    /// The folder with the logs while they are written.
    public var logs: String
    /// The address of its page; nil where the daemon shows no pages.
    public var page: String?
    /// A number that grows with every change of this value.
    public var revision = 0

    /// What the daemon is doing for the run. The raw value is shown to people.
    public enum Phase: String, Sendable, Codable {
        case planning
        case preparingWorkspace = "preparing the workspace"
        case running
    }

    /// What happens before the first step, in words.
    public var progress: String { waitsFor ?? phase.rawValue }

    package init(
        id: RunID, repository: String, workflow: String, subject: String, phase: Phase, startedAt: Date, logs: String
    ) {
        self.id = id
        self.repository = repository
        self.workflow = workflow
        self.subject = subject
        self.phase = phase
        self.startedAt = startedAt
        self.logs = logs
    }
}

/// The progress of a run that a command follows.
public enum RunProgress: Sendable, Codable {
    /// The run was accepted; `behind` runs are before it.
    case queued(behind: Int)
    case live(LiveRun)
    case ended(Verdict, reason: String)
}
