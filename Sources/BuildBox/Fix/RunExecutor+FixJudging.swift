import Archive
import Engine
import Git
import Integrity
import Logging
import Pipeline

/// Whether a failure is to be mended, and whether what mends it leaves the tests alone.
extension RunExecutor {
    /// What is to be done about a run that has failed; nil for nothing.
    ///
    /// - Parameter blame: What of the failure is the target's own: a fixer can't be asked to fix that in a change.
    func wantedFix(
        _ report: Report, _ prepared: RunPreparation, _ run: QueuedRun, store: String, blame: TargetBlame?
    ) async -> FixSeries? {
        let request = run.request
        guard let fix = prepared.declaration.fix, report.verdict == .failed, let change = request.change,
            request.startsAnew, request.isForeground != true, !request.isPartial
        else { return nil }
        func series(_ state: FixSeries.State, _ reason: String) -> FixSeries {
            FixSeries(state: state, reason: reason, wanted: fix.attempts, mayPush: fix.push == .ownBranch)
        }
        if let blame, blame.isWhole { return series(.stopped, blame.headline) }
        do {
            let head = request.head
            let own = try await withRepository(at: store) { try FixCommit.count(from: head, in: $0) }
            if own >= fix.attempts {
                return series(
                    .givenUp,
                    "the last \(own == 1 ? "commit" : "\(own) commits") of the change \(own == 1 ? "is a fix" : "are fixes") "
                        + ", and the workflow allows \(fix.attempts) in a row")
            }
            let isTried = try await index.hasFix(
                repository: request.repository, workflow: request.workflow, change: change.name, head: head)
            return isTried ? nil : series(.working, "the fixer is about to start")
        } catch {
            log.warning("run \(run.id): whether it should be fixed could not be determined: \(error)")
            return nil
        }
    }

    /// Whether what a fix makes of the tests is what they were in the run that it mends.
    func judgeFix(_ report: inout Report, _ tests: [TestResult]) async {
        guard let role = report.fix?.role, !role.isMaking, [.passed, .flaky].contains(report.verdict) else { return }
        let breaches: [Breach]
        do {
            let rules = IntegrityCheck(rules: [.standard]).rules
            breaches = ResultIntegrity(rules: rules, sources: IntegrityOutcome(breaches: []))
                .breaches(tests, try await index.tests(of: role.of))
        } catch {
            (report.verdict, report.reason) = (
                .infrastructure,
                "the tests of run \(role.of) can't be read, so pipectl can't tell whether a test is missing"
            )
            return
        }
        guard !breaches.isEmpty else { return }
        let findings = breaches.map { breach in
            var finding = Finding(breach, run: report.id)
            finding.message = breach.message.replacing("on the target", with: "in run \(role.of)")
            return finding
        }
        report.findings += findings
        report.verdict = .failed
        report.reason = "the fix was refused because it weakens tests: \(findings[0].message)"
    }
}
