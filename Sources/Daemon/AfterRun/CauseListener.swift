import DaemonLog
import Evaluating
import Running
import Control
import Engine
import Results
import Store
import Logging

/// After a run of a branch: forgets the causes of tests that pass again, and requests the causes of new failures.
struct CauseListener: RunListener {
    /// The most tests of one run that are bisected.
    private static let mostAtOnce = 3

    let index: Store.Index
    let log: Logger
    /// Starts the search for the commit that broke a test; must not block.
    let bisect: @Sendable (BisectRequest) -> Void
    let name = "causes"

    func wants(_ event: DaemonEvent) -> Bool {
        guard case .recorded(let run) = event else { return false }
        return run.report.change == nil && run.report.branch != nil && !run.tests.isEmpty
            && ![.bisect, .flakeProbe].contains(run.request.background)
    }

    func receive(_ event: DaemonEvent) async {
        guard case .recorded(let run) = event, let branch = run.report.branch else { return }
        let report = run.report
        do {
            let answers = try await index.answers(
                repository: report.repository, workflow: report.workflow, branch: branch)
            let last = run.tests.lastAttempts
            try await index.forget(
                answers.keys.filter { last[$0]?.status == .passed }, repository: report.repository,
                workflow: report.workflow, branch: branch)
            guard run.bisectsWhenRed, report.verdict == .failed, run.request.options.machine == nil else { return }
            let red = last.values.filter { $0.status.isFailure && answers[$0.id] == nil }.map(\.id).sorted()
            for test in red.prefix(Self.mostAtOnce) {
                var request = BisectRequest(test: test, repository: report.repository)
                (request.workflow, request.branch, request.bad) = (report.workflow, branch, report.testedCommit)
                bisect(request)
            }
        } catch {
            log.warning(
                "run \(report.id): its failing tests are not bisected: \(error)",
                metadata: .code(.bisectFailed, run: report.id))
        }
    }

    func missed(_ count: Int) async {
        log.warning(
            "the causes of failures of \(count) runs are not looked for: too many runs end at a time",
            metadata: .code(.eventsMissed))
    }
}
