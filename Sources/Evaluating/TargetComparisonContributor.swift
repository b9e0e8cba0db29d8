import Preparing
import Watching
import Results
import Store
import Pipeline

/// Compares the run of a change with its target, and requests a run of the target if there is none to compare with.
struct TargetComparisonContributor: ReportContributor {
    let index: Store.Index
    let reports: any ReportSource

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        let report = draft.report
        guard !run.request.isPartial, let change = report.change, report.verdict != .cancelled,
            report.verdict != .superseded
        else { return }
        let hasFindings = report.findings.contains { $0.step != nil }
        let hasResults = !draft.tests.isEmpty || hasFindings
        // A run that passed without results has nothing to compare.
        guard hasResults || report.verdict == .failed else { return }
        let comparing = TargetComparison(index: index, reports: reports, objects: run.repository.store)
        let target = try? await comparing.target(of: report)
        if let target, hasResults {
            draft.report.comparison = try? await comparing.comparison(of: report, draft.tests, with: target.run)
        }
        // After a failure, a run of the exact target commit shows whether the target fails too. After a pass, any run
        // is enough.
        let isWorthARun = target == nil ? hasResults : report.verdict == .failed
        // A task asks for what its reproductions need.
        guard isWorthARun, target?.isExact != true, run.request.task?.part != .reproducing,
            run.prepared.startsForChanges, let branch = report.branch
        else {
            return
        }
        draft.wantedRuns.append(
            .warmUp(
                report.workflow, repository: report.repository, branch: branch, commit: change.targetCommit,
                definition: change.targetCommit))
    }
}
