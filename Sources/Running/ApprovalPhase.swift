import DaemonLog
import Preparing
import Concurrency
package import Results
import Store
import TerminalText
import Foundation
import Logging
import Pipeline

/// The phase in which a run waits for approvals: before its first step, and at gates.
struct ApprovalPhase: Sendable {
    let index: Store.Index
    let waiters: ApprovalWaiters
    let log: Logger

    /// What happens to a run with an unanswered gate when the daemon shuts down.
    enum Parking: Sendable, Equatable {
        /// It is queued again and runs from the start when the daemon is back.
        case putBack(reason: String)
        case ends(reason: String)
    }

    /// Puts the run back until a question is answered; false if a newer run or a cancellation came first.
    func hold(_ task: RunTask, for question: Approval, _ trust: Trust) async -> Bool {
        let (run, stop) = (task.run, task.stop)
        guard stop.request == nil else { return false }
        do {
            guard try await index.hold(run.id, for: question, trust: trust) == .held else { return false }
            log.notice(
                "run \(run.id) needs approval: \(TerminalText.name(question.why, limit: 500)); \(Approval.command(run.id))",
                metadata: .code(.runNeedsApproval, run: run.id, repository: run.request.repository)
            )
            // It was cancelled at the moment at which it was put back, so no other code will notice that.
            if let request = stop.request, try await index.cancelQueued(run.id, reason: request.reason) {
                log.info(
                    "run \(run.id) was cancelled before it waited for approval",
                    metadata: .code(
                        .runEnded, run: run.id, repository: run.request.repository,
                        ["verdict": Verdict.cancelled.rawValue]))
            }
            return true
        } catch {
            log.error(
                "run \(run.id) could not be queued for approval: \(error)",
                metadata: .code(.approvalFailed, run: run.id))
            return false
        }
    }

    /// Asks for the approval of a step and waits for the answer. The question is in the index, so it outlives the
    /// process.
    func decision(
        on step: String, of run: QueuedRun, _ prepared: RunPreparation, _ stop: StopSignal
    ) async -> ApprovalDecision? {
        let definition = prepared.definition.tree
        let question = Approval(
            step: step, why: "the step needs approval", head: run.request.head, definition: definition,
            binding: Approval.binding(run.request, definition: definition, run: run.id), askedAt: Date())
        while stop.request == nil && !Task.isCancelled {
            do {
                let asked = try await index.ask(question, of: run.id)
                if asked.decision != nil { return ApprovalDecision(asked) }
                log.notice(
                    "run \(run.id): \(TerminalText.name("\"\(step)\" waits for \(Approval.command(run.id, step: step))"))",
                    metadata: .code(.stepNeedsApproval, run: run.id, repository: run.request.repository, ["step": step])
                )
                return await waiters.answer(about: step, of: run.id, stop: stop).flatMap(ApprovalDecision.init)
            } catch {
                // A full disk is temporary; a gate must neither open nor fail because of it.
                log.error(
                    "run \(run.id) can't ask for approval of \"\(TerminalText.name(step))\" yet: \(error)",
                    metadata: .code(.approvalFailed, run: run.id))
                do { try await Task.sleep(for: .seconds(2)) } catch { return nil }
            }
        }
        return nil
    }

    /// The approvals of the run and its steps, and an approval of another run that is valid for this one.
    func approvals(_ prepared: RunPreparation, _ id: RunID) async -> [Approval]? {
        var all = (try? await index.approvals(of: id)) ?? []
        if let word = prepared.approval, !all.contains(word) { all.insert(word, at: 0) }
        all.removeAll { $0.decision == nil }
        return all.isEmpty ? nil : all
    }

    /// Decides about a run whose gate was unanswered when the daemon shut down; nil for every other run.
    func parking(_ task: RunTask, _ prepared: RunPreparation, _ report: Report) async -> Parking? {
        guard waiters.leave(task.id), task.stop.request == nil, report.verdict == .cancelled else { return nil }
        return await park(task.run, prepared, report.steps)
    }

    private func park(_ run: QueuedRun, _ prepared: RunPreparation, _ steps: [StepRecord]) async -> Parking {
        let parking = Self.parking(run.request, prepared.plan, steps)
        guard case .putBack(let reason) = parking else { return parking }
        return await requeue(run, reason: reason)
    }

    /// Queues a run again of which nothing is lost.
    func requeue(_ run: QueuedRun, reason: String) async -> Parking {
        do {
            if try await index.putBack(run.id) { return .putBack(reason: reason) }
            return .ends(reason: "A newer run took its place.")
        } catch {
            log.error(
                "run \(run.id) could not be queued again: \(error)", metadata: .code(.queueingFailed, run: run.id))
            return .ends(
                reason:
                    "the daemon was shut down while the run waited, and the run could not be queued again: \(error)"
            )
        }
    }

    /// A test is repeated, and so is a release in which no step with network or secrets has started, since only such a
    /// step can have effects outside. What makes or publishes a release is continued by the next attempt. Any other release ends, because its steps must not run twice.
    static func parking(_ request: RunRequest, _ plan: Plan, _ steps: [StepRecord]) -> Parking {
        let started = Set(steps.filter { !$0.attempts.isEmpty }.map(\.name))
        let acted = plan.steps.filter { step in
            started.contains(step.name) && step.action.startsProcess
                && (step.network == .allowed || !step.secrets.isEmpty)
        }
        guard request.runsAtMostOnce, let first = acted.first else {
            return .putBack(
                reason: "the daemon was shut down while a step waited for approval; the run starts again and asks again"
            )
        }
        return .ends(
            reason:
                "the daemon was shut down while a step waited for approval; \"\(first.name)\" had run and must not be "
                + "repeated. No step that needs the approval has started.")
    }
}

extension ApprovalDecision {
    package init?(_ approval: Approval) {
        guard let decision = approval.decision, let by = approval.by else { return nil }
        self.init(isApproved: decision == .approved, by: by, comment: approval.comment)
    }
}
