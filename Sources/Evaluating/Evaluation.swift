package import Workspaces
import Engine
import Reports
import Results
package import Store
package import Logging

/// The phase after a run's last step: contributors add to its report, each using the results of those before it.
package struct Evaluation: Sendable {
    /// Contributors for every run.
    package let always: [any ReportContributor]
    /// Contributors that judge the tests and the change. The run of a fixer, or of a task's agent, has no tests, and
    /// compared with its target all would be missing.
    let judging: [any ReportContributor]

    package init(always: [any ReportContributor], judging: [any ReportContributor]) {
        self.always = always
        self.judging = judging
    }

    /// The order matters: blame needs the comparison, and a fix is wanted only for the final verdict.
    package init(index: Store.Index, reports: any ReportSource, snapshots: SnapshotStore, log: Logger) {
        self.init(
            always: [
                PlaceContributor(), TestCountContributor(),
                WarmDifferenceContributor(reports: reports, snapshots: snapshots, log: log),
            ],
            judging: [
                TargetComparisonContributor(index: index, reports: reports),
                FlakyTestContributor(index: index),
                RuleContributor(log: log),
                IntegrityContributor(index: index, log: log),
                CauseContributor(index: index, log: log),
                EarlyConflictContributor(index: index, log: log),
                BlameContributor(),
                FixCheckContributor(index: index),
                FixWishContributor(index: index, log: log),
            ])
    }

    package func evaluate(_ draft: inout ReportDraft, of run: FinishedRun) async {
        for contributor in always { await contributor.contribute(to: &draft, of: run) }
        guard run.request.fix?.isMaking != true, run.request.task?.isOfAgent != true else { return }
        for contributor in judging { await contributor.contribute(to: &draft, of: run) }
    }
}

/// Counts each test once, by its last attempt.
struct TestCountContributor: ReportContributor {
    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        draft.report.testCounts = TestCounts(Array(draft.tests.lastAttempts.values))
    }
}
