import Archive
import Engine
import Foundation
import Git
import Logging

extension RunExecutor {
    /// How many tests of one red run are looked into.
    private static let mostAtOnce = 3

    /// Adds to a report what is known of where its failing tests broke.
    func addCauses(to report: inout Report, _ tests: [TestResult], store: String) async {
        guard let branch = report.branch, report.testCounts.failed > 0,
            let tested = report.testedCommit.flatMap(OID.init)
        else { return }
        do {
            let answers = try await index.answers(
                repository: report.repository, workflow: report.workflow, branch: branch)
            guard !answers.isEmpty else { return }
            let failing = Set(tests.filter(\.status.isFailure).map(\.id))
            let own = Set(report.comparison?.newlyFailing ?? [])
            for (test, answer) in answers.sorted(by: { $0.key < $1.key })
            where failing.contains(test) && !own.contains(test) {
                guard let broken = OID(hex: answer.broken.id) else { continue }
                let isIn = try await withRepository(at: store) {
                    try $0.contains(broken) && $0.isAncestor(broken, of: tested)
                }
                guard isIn else { continue }
                let runs = [answer.broken.run, answer.good.run].compactMap { $0 }.map { "run \($0)" }
                report.findings.append(
                    Finding(
                        rule: Report.brokenBy, severity: .note,
                        message: answer.inWords + (runs.isEmpty ? "" : " (\(runs.joined(separator: ", ")))"), file: nil,
                        line: nil, column: nil, suggestion: "git show \(answer.broken.id.prefix(12))"))
            }
        } catch {
            log.warning("run \(report.id): the history of its failing tests could not be read: \(error)")
        }
    }

    /// After a run of the branch itself: forgets what passes again, and asks for the causes of what is newly red.
    func lookForCauses(of report: Report, _ tests: [TestResult], isWanted: Bool) async {
        guard report.change == nil, let branch = report.branch, !tests.isEmpty else { return }
        do {
            let answers = try await index.answers(
                repository: report.repository, workflow: report.workflow, branch: branch)
            var last: [String: TestResult] = [:]
            for test in tests where (last[test.id]?.attempt ?? 0) <= test.attempt { last[test.id] = test }
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
            log.warning("run \(report.id): its failing tests are not bisected: \(error)")
        }
    }
}
