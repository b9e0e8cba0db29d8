import DaemonLog
import Watching
import Reports
import Results
import Store
import Git
import Logging

/// Names the commits that broke the failing tests, if a bisection found them.
struct CauseContributor: ReportContributor {
    let index: Store.Index
    let log: Logger

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        let report = draft.report
        guard let branch = report.branch, report.testCounts.failed > 0,
            let tested = report.testedCommit.flatMap(OID.init)
        else { return }
        do {
            let answers = try await index.answers(
                repository: report.repository, workflow: report.workflow, branch: branch)
            guard !answers.isEmpty else { return }
            let failing = Set(draft.tests.filter(\.status.isFailure).map(\.id))
            let own = Set(report.comparison?.newlyFailing ?? [])
            for (test, answer) in answers.sorted(by: { $0.key < $1.key })
            where failing.contains(test) && !own.contains(test) {
                guard let broken = OID(hex: answer.broken.id) else { continue }
                let isIn = try await withRepository(at: run.repository.store) {
                    try $0.contains(broken) && $0.isAncestor(broken, of: tested)
                }
                guard isIn else { continue }
                let runs = [answer.broken.run, answer.good.run].compactMap { $0 }.map { "run \($0)" }
                draft.report.findings.append(
                    Finding(
                        rule: Report.brokenBy, severity: .note,
                        message: answer.inWords + (runs.isEmpty ? "" : " (\(runs.joined(separator: ", ")))"),
                        suggestion: "git show \(answer.broken.id.prefix(12))"))
            }
        } catch {
            log.warning(
                "run \(report.id): the history of its failing tests could not be read: \(error)",
                metadata: .code(.evaluationFailed, run: report.id))
        }
    }
}

/// Puts first which failures the target has as well.
struct BlameContributor: ReportContributor {
    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        guard let blame = TargetBlame(draft.report, draft.tests) else { return }
        draft.report.reason = blame.reason(draft.report.reason)
    }
}
