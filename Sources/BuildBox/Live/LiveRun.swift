public import Archive
public import Engine
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
    /// What the box is doing before the first step: `preparing the workspace`.
    public var phase: String
    public var startedAt: Date
    public var steps: [Step] = []
    /// The folder with the logs while they grow.
    public var logs: String
    /// Grows with every change of this value.
    public var revision = 0

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

    mutating func take(_ event: RunEvent) {
        func with(_ name: String, _ change: (inout Step) -> Void) {
            if let index = steps.firstIndex(where: { $0.record.name == name }) { change(&steps[index]) }
        }
        switch event {
        case .stepWaiting(let step, let reason): with(step) { $0.waitsFor = reason }
        case .stepAwaitsApproval(let step, let since):
            let command = Approval.command(id, step: step)
            with(step) {
                $0.awaitsApproval = true
                ($0.waitsFor, $0.startedAt) = ("waits for approval: \(command)", since)
            }
        case .stepStarted(let step, let attempt, let at):
            with(step) {
                $0.record.status = .running
                ($0.waitsFor, $0.attempt, $0.bytes) = (nil, attempt, 0)
                $0.startedAt = $0.startedAt ?? at
            }
        case .stepOutput(let step, _, let lastLine, let bytes):
            with(step) { ($0.lastLine, $0.bytes) = (lastLine, bytes) }
        case .attemptEnded(let step, let attempt):
            with(step) {
                $0.record.attempts.append(attempt)
                $0.record.status = .waiting
            }
        case .stepLeft: break
        case .stepEnded(let record):
            with(record.name) {
                $0.record = record
                ($0.waitsFor, $0.awaitsApproval) = (nil, false)
            }
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
