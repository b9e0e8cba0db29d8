import DaemonLog
import Watching
import Preparing
import Reports
import Results
import Store
import Git
import TestIntegrity
import Logging
import Pipeline

/// Fails a run that checks a fix if the fix removes tests that the failed run had.
struct FixCheckContributor: ReportContributor {
    let index: Store.Index

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        let report = draft.report
        guard let role = report.fix?.role, !role.isMaking, [.passed, .flaky].contains(report.verdict) else { return }
        let breaches: [Breach]
        do {
            let rules = IntegrityRule.standardRules
            breaches = ResultIntegrity(rules: rules, sources: IntegrityOutcome(breaches: []))
                .breaches(draft.tests, try await index.tests(of: role.of))
        } catch {
            draft.report.verdict = .infrastructure
            draft.report.reason =
                "the tests of run \(role.of) can't be read, so pipectl can't tell whether a test is missing"
            return
        }
        guard !breaches.isEmpty else { return }
        let findings = breaches.map { breach in
            var finding = Finding(breach, run: report.id)
            finding.message = breach.message.replacing("on the target", with: "in run \(role.of)")
            return finding
        }
        draft.report.findings += findings
        draft.report.verdict = .failed
        draft.report.reason = "the fix was refused because it weakens tests: \(findings[0].message)"
    }
}

/// Decides whether a fixer works on a failed run.
struct FixWishContributor: ReportContributor {
    let index: Store.Index
    let log: Logger

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        draft.report.fixes = await wanted(draft, run)
    }

    private func wanted(_ draft: ReportDraft, _ run: FinishedRun) async -> FixSeries? {
        let request = run.request
        guard let fix = run.prepared.declaration.fix, draft.report.verdict == .failed, let change = request.change,
            request.startsAnew, !request.options.isForeground, !request.isPartial
        else { return nil }
        func series(_ state: FixSeries.State, _ reason: String) -> FixSeries {
            FixSeries(state: state, reason: reason, wanted: fix.attempts, mayPush: fix.push == .ownBranch)
        }
        // A fixer can't correct in a change what the target has broken.
        if let blame = TargetBlame(draft.report, draft.tests), blame.isWhole { return series(.stopped, blame.headline) }
        do {
            let head = request.head
            let own = try await withRepository(at: run.repository.store) { try FixCommit.count(from: head, in: $0) }
            if own >= fix.attempts {
                return series(
                    .givenUp,
                    "the last \(own == 1 ? "commit" : "\(own) commits") of the change \(own == 1 ? "is a fix" : "are fixes")"
                        + ", and the workflow allows \(fix.attempts) in a row")
            }
            let isTried = try await index.hasFix(
                repository: request.repository, workflow: request.workflow, change: change.name, head: head)
            return isTried ? nil : series(.working, "the fixer is about to start")
        } catch {
            log.warning(
                "run \(draft.report.id): whether it should be fixed could not be determined: \(error)",
                metadata: .code(.evaluationFailed, run: draft.report.id))
            return nil
        }
    }
}
