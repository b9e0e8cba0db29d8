package import Control
package import Engine
import Results

extension LiveRun {
    /// True if every unfinished step waits for approval. Such a run takes no slot.
    package var isParked: Bool {
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

    /// The question for a person, with the step that waits for the answer; nil while any other step runs.
    package var question: String? {
        guard isParked, let step = steps.first(where: \.awaitsApproval) else { return nil }
        return "\"\(step.record.name)\" \(step.waitsFor ?? "")"
    }

    package mutating func change(_ change: (inout LiveRun) -> Void) {
        change(&self)
        revision += 1
    }

    /// Applies an event of a step.
    ///
    /// - Parameter place: The index of the step in ``steps``; nil for an unknown step.
    package mutating func take(_ event: RunEvent, at place: Int?) {
        guard let place else { return }
        switch event {
        case .stepWaiting(_, let reason): steps[place].waitsFor = reason
        case .stepAwaitsApproval(let step, let since):
            steps[place].awaitsApproval = true
            steps[place].waitsFor = "waits for approval: \(Approval.command(id, step: step))"
            steps[place].startedAt = since
        case .stepStarted(_, let attempt, let at, let machine):
            steps[place].record.status = .running
            (steps[place].waitsFor, steps[place].attempt, steps[place].bytes) = (nil, attempt, 0)
            (steps[place].startedAt, steps[place].machine) = (steps[place].startedAt ?? at, machine)
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
