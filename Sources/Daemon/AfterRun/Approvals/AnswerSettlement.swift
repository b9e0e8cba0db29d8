import DaemonLog
import Watching
import Archive
import Foundation
import Logging
import Results
import Store

/// Gives runs that ended with a question their final verdict once a person has answered.
struct AnswerSettlement: Sendable {
    let index: Store.Index
    let store: ArchiveStore
    let fixes: FixCoordinator
    /// Writes notes; nil if none are written.
    let notes: RepositoryRegistry?
    let log: Logger

    /// Sets the verdict of an ended run. It does nothing for a run without a question or with an open one. Repeating it
    /// changes nothing.
    func settle(_ id: RunID) async throws {
        guard let run = try await index.run(id), run.summary.state == .ended, run.summary.verdict == .needsApproval,
            let answer = run.approvals.last(where: { $0.step == nil }), let decision = answer.decision
        else { return }
        var report = try await store.report(id)
        guard let integrity = report.integrity, let verdict = integrity.verdict else { return }
        var approvals = report.approvals ?? []
        approvals.removeAll { $0.binding == answer.binding && $0.step == nil }
        report.approvals = approvals + [answer]
        let comment = answer.comment.map { ": \($0)" } ?? ""
        switch decision {
        case .approved:
            report.verdict = verdict
            report.reason =
                "\(integrity.reason ?? verdict.title); its changes were approved by \(answer.by ?? "?")\(comment)"
        case .rejected:
            report.verdict = .failed
            report.reason = "its changes were rejected by \(answer.by ?? "?")\(comment): \(answer.why)"
        }
        try await store.amend(report, in: index)
        // Runs that waited for the answer continue now.
        if let role = report.fix?.role { try await fixes.advanceIfMine(role.of) }
        guard let repository = await notes?.all[report.repository] else { return }
        _ = try? await report.mirror(into: repository.gitDirectory)
    }

    /// Completes answers whose verdicts a crash prevented.
    func settleAll() async {
        do {
            for id in try await index.answeredWithoutVerdict() { try await settle(id) }
        } catch {
            log.error(
                "the verdict after an approval could not be recorded: \(error); repeat `pipectl approve`",
                metadata: .code(.approvalFailed))
        }
    }
}
