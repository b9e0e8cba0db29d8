import DaemonLog
import Watching
import Running
import Control
import Logging
import Results
import Store
import TerminalText

/// Records approvals and rejections, and lets the runs and steps that waited continue.
struct ApprovalService: Sendable {
    let index: Store.Index
    let waiters: ApprovalWaiters
    let answers: AnswerSettlement
    let queue: RunQueue
    let log: Logger

    /// Records an answer and lets the run or step that waited for it continue.
    ///
    /// - Parameters:
    ///   - name: Who answers, for people: a login name here, or `ada at GitHub`.
    ///   - user: Their user id on this machine according to the kernel, never according to the client; nil for somebody
    ///     at a forge or at the pages.
    func approve(_ request: ApproveRequest, by name: String, user: UInt32? = nil) async throws -> CompletedAction {
        let comment = request.comment.map { String($0.prefix(1_000)) }
        let outcome = try await index.answer(
            request.run, step: request.step, request.isRejected ? .rejected : .approved, by: name,
            user: user, comment: comment?.isEmpty == true ? nil : comment)
        let subject = request.step.map { "step \"\($0)\" of run \(request.run)" } ?? "run \(request.run)"
        if request.step == nil { try await answers.settle(request.run) }
        switch outcome {
        case .known(let approval): return .answered(request.run, approval, isNew: false)
        case .recorded(let approval):
            log.notice(
                "\(TerminalText.name("\(subject): \(approval.decision?.rawValue ?? "") by \(approval.by ?? "?")"))",
                metadata: .code(.approvalAnswered, run: request.run))
            waiters.pass(approval, to: request.run)
            queue.board.wake(request.run)
            if request.isRejected && request.step == nil { await queue.unstarted.archive() }
            queue.wakeUp()
            return .answered(request.run, approval, isNew: true)
        }
    }

    /// The runs that wait for approval, before their first step or after their last, oldest first.
    func held() async throws -> [RunSummary] {
        let all = try await index.runs(RunFilter(verdicts: [.needsApproval], limit: 200)).filter { $0.heldFor != nil }
        var newest: Set<String> = []
        // For a change, only the newest push is worth an approval.
        return all.filter { run in
            run.state == .queued || newest.insert("\(run.repository)\0\(run.workflow)\0\(run.ref)").inserted
        }.reversed()
    }
}
