public import Results
import Engine
public import Foundation

/// A run while it goes on, as a terminal shows it.
public struct LiveRun: Sendable, Equatable, Codable, Identifiable {
    /// A step while it waits, runs or after it ended.
    public struct Step: Sendable, Equatable, Codable, Identifiable {
        public var record: StepRecord
        /// What it waits for, for a step that could start but for that.
        public var waitsFor: String?
        /// Whether it goes on when a person says so.
        public var awaitsApproval = false
        /// Its newest line of output, safe for a terminal.
        public var lastLine: String?
        /// Bytes of output of the current attempt.
        public var bytes = 0
        /// The current attempt, and when it began.
        public var attempt = 0
        public var startedAt: Date?

        public var id: String { record.name }
    }

    public var id: RunID
    public var repository: String
    public var workflow: String
    /// What is tested, as a person would say it: `change 7 into main`.
    public var subject: String
    /// What the daemon is doing for it.
    public var phase: Phase
    public var startedAt: Date
    public var steps: [Step] = []
    /// The folder with the logs while they grow.
    public var logs: String
    /// Grows with every change of this value.
    public var revision = 0

    /// What the daemon is doing for a run; the raw value is for people, too.
    public enum Phase: String, Sendable, Codable {
        case planning
        case preparingWorkspace = "preparing the workspace"
        case running
    }

    /// Whether nothing goes on or could, but for a person's word: then the run holds no place among those that run.
    var isParked: Bool {
        var isAwaiting = false
        for step in steps where !step.record.status.isFinal {
            if step.awaitsApproval {
                isAwaiting = true
            } else if step.record.status == .running || step.waitsFor != nil {
                return false
            }
        }
        return isAwaiting
    }

    mutating func change(_ change: (inout LiveRun) -> Void) {
        change(&self)
        revision += 1
    }

    /// - Parameter place: Of the step that it is about, among ``steps``; nil if there is none.
    mutating func take(_ event: RunEvent, at place: Int?) {
        guard let place else { return }
        switch event {
        case .stepWaiting(_, let reason): steps[place].waitsFor = reason
        case .stepAwaitsApproval(let step, let since):
            steps[place].awaitsApproval = true
            steps[place].waitsFor = "waits for approval: \(Approval.command(id, step: step))"
            steps[place].startedAt = since
        case .stepStarted(_, let attempt, let at):
            steps[place].record.status = .running
            (steps[place].waitsFor, steps[place].attempt, steps[place].bytes) = (nil, attempt, 0)
            steps[place].startedAt = steps[place].startedAt ?? at
        case .stepOutput(_, _, let lastLine, let bytes):
            (steps[place].lastLine, steps[place].bytes) = (lastLine, bytes)
        case .attemptEnded(_, let attempt):
            steps[place].record.attempts.append(attempt)
            steps[place].record.status = .waiting
        case .stepLeft: break
        case .stepEnded(let record):
            steps[place].record = record
            (steps[place].waitsFor, steps[place].awaitsApproval) = (nil, false)
        }
    }
}

/// What there is to know of a run that is followed.
public enum RunProgress: Sendable, Codable {
    /// Accepted; `behind` runs are before it.
    case queued(behind: Int)
    case live(LiveRun)
    case ended(Verdict, reason: String)
}
