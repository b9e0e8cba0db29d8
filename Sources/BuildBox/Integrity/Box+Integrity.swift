import Store
import Archive
import Results
import Foundation
import Logging

/// Answers to the question that a run ended with.
extension Box {
    /// Gives an ended run the verdict that a person's word has made of it; nothing for a run that did not end with a
    /// question, or whose question is open. Repeating it changes nothing.
    func settleAnswer(of id: RunID) async throws {
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
        // What waited for the word goes on now.
        if let role = report.fix?.role, await scheduler.isMine(role.of) { try await advanceFix(of: role.of) }
        guard options.writesNotes, let repository = await registry.all[report.repository] else { return }
        _ = try? await report.mirror(into: repository.gitDirectory)
    }

    /// Finishes what a crash left between an answer and its verdict.
    func settleAnswers() async {
        do {
            for id in try await index.answeredWithoutVerdict() { try await settleAnswer(of: id) }
        } catch {
            log.error("the verdict after an approval could not be recorded: \(error); repeat `pipectl approve`")
        }
    }
}
