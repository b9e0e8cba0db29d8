import Concurrency
import Results
import Foundation
import Pipeline

extension StepRunner {
    /// Waits for the decision about a step that needs approval. It takes no slot and no resource meanwhile.
    ///
    /// The wait is the step's only attempt, so that a report shows how long it took.
    func awaitApproval(of step: PlannedStep, _ stop: StopSignal) async -> StepOutcome {
        let start = Date()
        await emit(.stepAwaitsApproval(step: step.name, since: start))
        let decision = await decision(on: step, stop)
        var attempt = AttemptRecord(number: 1, startedAt: start, endedAt: Date())
        switch decision {
        case .decided(let word) where word.isApproved: attempt.status = .passed
        case .decided(let word):
            attempt.status = .failed
            attempt.reason = "rejected by \(word.by)" + (word.comment.map { ": \($0)" } ?? "")
        case .overdue:
            attempt.status = .timedOut
            attempt.reason = "it was not approved within \(Figures.duration(step.timeout))"
        case .withdrawn:
            attempt.status = .cancelled
            attempt.reason = stop.request?.reason ?? "the daemon shut down before it was approved"
        }
        var record = StepRecord(step)
        (record.status, record.reason) = (attempt.status, attempt.reason)
        record.attempts = [attempt]
        await emit(.attemptEnded(step: step.name, attempt: attempt))
        return StepOutcome(record: record)
    }

    private enum Decision: Sendable {
        case decided(ApprovalDecision)
        case overdue
        case withdrawn
    }

    private func decision(on step: PlannedStep, _ stop: StopSignal) async -> Decision {
        await withTaskGroup(of: Decision.self) { group in
            group.addTask { await setting.approval(step.name, stop).map { .decided($0) } ?? .withdrawn }
            group.addTask {
                do { try await Task.sleep(for: .seconds(step.timeout)) } catch { return .withdrawn }
                return .overdue
            }
            defer { group.cancelAll() }
            return await group.next() ?? .withdrawn
        }
    }
}
