import Preparing
import Watching
import Results
import Store
import Pipeline

/// Compares the run of a change with what is known of its target, and asks for a run of the target where that says too
/// little.
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
        // A run that passed without results has nothing to be compared.
        guard hasResults || report.verdict == .failed else { return }
        let comparing = TargetComparison(index: index, reports: reports, objects: run.repository.store)
        let target = try? await comparing.target(of: report)
        if let target, hasResults {
            draft.report.comparison = try? await comparing.comparison(of: report, draft.tests, with: target.run)
        }
        // A failure is worth a run of the very target commit, to tell whose it is. A run that passed needs only some run.
        let isWorthARun = target == nil ? hasResults : report.verdict == .failed
        guard isWorthARun, target?.isExact != true, run.prepared.startsForChanges, let branch = report.branch else {
            return
        }
        draft.wantedRuns.append(
            .warmUp(
                report.workflow, repository: report.repository, branch: branch, commit: change.targetCommit,
                definition: change.targetCommit))
    }
}
