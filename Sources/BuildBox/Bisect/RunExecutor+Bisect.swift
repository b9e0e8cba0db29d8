import Archive
import Engine
import Foundation
import Logging

extension RunExecutor {
    /// How many tests of one red run are looked into.
    private static let mostAtOnce = 3

    /// After a run of the branch itself: forgets what passes again, and asks for the causes of what is newly red.
    func lookForCauses(of report: Report, _ tests: [TestResult], isWanted: Bool) async {
        guard report.change == nil, let branch = report.branch, !tests.isEmpty else { return }
        do {
            let answers = try await index.answers(
                repository: report.repository, workflow: report.workflow, branch: branch)
            let last = tests.lastAttempts
            try await index.forget(
                answers.keys.filter { last[$0]?.status == .passed }, repository: report.repository,
                workflow: report.workflow, branch: branch)
            guard isWanted, report.verdict == .failed else { return }
            let red = last.values.filter { $0.status.isFailure && answers[$0.id] == nil }.map(\.id).sorted()
            for test in red.prefix(Self.mostAtOnce) {
                var request = BisectRequest(test: test, repository: report.repository)
                (request.workflow, request.branch, request.bad) = (report.workflow, branch, report.testedCommit)
                turnedRed(request)
            }
        } catch {
            log.warning("run \(report.id): the causes of its failing tests are not looked for: \(error)")
        }
    }
}
