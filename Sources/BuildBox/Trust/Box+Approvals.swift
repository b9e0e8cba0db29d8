import Control
import Store
import Results
import TerminalText

import Foundation
import Logging

extension Box {
    /// Records a person's answer and lets the run or step that waited for it go on.
    ///
    /// - Parameter user: The user at the other end of the socket as the kernel reports it, never as the caller says.
    func approve(_ request: ApproveRequest, user: UInt32) async throws -> CompletedAction {
        let comment = request.comment.map { String($0.prefix(1_000)) }
        let outcome = try await index.answer(
            request.run, step: request.step, request.isRejected ? .rejected : .approved, by: UserName.of(user),
            user: user, comment: comment?.isEmpty == true ? nil : comment)
        let subject = request.step.map { "step \"\($0)\" of run \(request.run)" } ?? "run \(request.run)"
        if request.step == nil { try await settleAnswer(of: request.run) }
        switch outcome {
        case .known(let approval): return .answered(request.run, approval, isNew: false)
        case .recorded(let approval):
            log.notice(
                "\(TerminalText.name("\(subject): \(approval.decision?.rawValue ?? "") by \(approval.by ?? "?")"))")
            waiters.pass(approval, to: request.run)
            board.wake(request.run)
            if request.isRejected && request.step == nil { await archiveUnstarted() }
            scheduler.wakeUp()
            return .answered(request.run, approval, isNew: true)
        }
    }

    /// The runs that wait for a person, before their first step or after their last, oldest first.
    func held() async throws -> [RunSummary] {
        let all = try await index.runs(RunFilter(verdicts: [.needsApproval], limit: 200)).filter { $0.heldFor != nil }
        var newest: Set<String> = []
        // Of a change only what was pushed last is worth a person's time.
        return all.filter { run in
            run.state == .queued || newest.insert("\(run.repository)\0\(run.workflow)\0\(run.ref)").inserted
        }.reversed()
    }
}

extension Report {
    /// A run that waits for a person, as its report reads until somebody has answered.
    init?(held run: IndexedRun) {
        guard let why = run.summary.heldFor, run.summary.state == .queued else { return nil }
        let request = run.request
        self.init(
            id: run.id, repository: request.repository, workflow: request.workflow, event: request.event,
            ref: request.ref, branch: request.branch, head: request.head, change: request.change,
            mergedChanges: request.mergedChanges, parameters: request.parameters, verdict: .needsApproval, reason: why,
            createdAt: run.summary.createdAt, startedAt: nil,
            endedAt: run.approvals.last { $0.step == nil }?.askedAt ?? run.summary.createdAt,
            attempt: max(1, run.summary.attempt), rerunOf: request.rerun?.of, reproduce: request.reproduction,
            trust: run.summary.trust, approvals: run.approvals, box: .current)
    }
}
