import Archive
import Engine
import Foundation
import Git
import Pipeline

extension RunExecutor {
    /// Holds the run against its target, and notes where the target is to be run for that first.
    func hold(
        _ report: inout Report, _ tests: [TestResult], against prepared: RunPreparation, _ repository: WatchedRepository
    ) async {
        guard let change = report.change, report.verdict != .cancelled, report.verdict != .superseded else { return }
        let hasFindings = report.findings.contains { $0.step != nil }
        // What passed and told of nothing has nothing to be held against.
        guard !tests.isEmpty || hasFindings || report.verdict == .failed else { return }
        let comparing = TargetComparison(index: index, store: store, objects: repository.store)
        let target = try? await comparing.target(of: report)
        if let target, !tests.isEmpty || hasFindings {
            report.comparison = try? await comparing.comparison(of: report, tests, with: target.run)
        }
        // Who reads of a failure wants to know whose it is; a run that passed can do with what is known.
        let isWorthARun = target == nil ? !tests.isEmpty || hasFindings : report.verdict == .failed
        guard isWorthARun, target?.isExact != true, prepared.startsForChanges, let branch = report.branch else {
            return
        }
        await bases.wantTarget(
            .refresh(
                report.workflow, repository: report.repository, branch: branch, commit: change.targetCommit,
                definition: change.targetCommit))
    }

    /// Gives findings and failing tests their places in the repository: paths relative to it, and for a test whose
    /// results name no file the line that declares it.
    func locate(
        _ findings: inout [Finding], _ tests: inout [TestResult], of prepared: RunPreparation,
        in repository: WatchedRepository
    ) async {
        guard findings.contains(where: { $0.step != nil }) || tests.contains(where: \.status.isFailure) else { return }
        let folders = Dictionary(
            prepared.plan.steps.map { ($0.name, $0.workingDirectory) }, uniquingKeysWith: { first, _ in first })
        let (oldFindings, oldTests, tested) = (findings, tests, prepared.tested)
        let placed = try? await withRepository(at: repository.store) { git in
            var paths = RepositoryPaths(git, tested)
            let ended = Array(oldFindings.compactMap(UnfinishedTests.name).prefix(TestLocator.maximumTests))
            let endedAt = try TestLocator(git, tested).places(of: ended)
            let findings = oldFindings.map { finding in
                var finding = finding
                if let place = UnfinishedTests.name(in: finding).flatMap({ endedAt[$0] }) {
                    (finding.file, finding.line) = (place.file, place.line)
                    return finding
                }
                if finding.step != nil, let file = finding.file {
                    let folder = (finding.step.flatMap { folders[$0] }).flatMap { $0 }
                    finding.file = paths.path(file, in: folder) ?? file
                }
                return finding
            }
            var tests = oldTests
            var lost: [Int] = []
            // Of a hundred thousand failures nobody reads more than the first.
            for index in tests.indices.lazy.filter({ tests[$0].status.isFailure }).prefix(500) {
                if let file = tests[index].file {
                    tests[index].file = paths.path(file, in: nil) ?? file
                } else if let said = Self.place(in: tests[index], &paths) {
                    (tests[index].file, tests[index].line) = said
                } else {
                    lost.append(index)
                }
            }
            let names = lost.prefix(TestLocator.maximumTests).map { tests[$0].id }
            for (id, place) in try TestLocator(git, tested).places(of: Array(names)) {
                for index in lost where tests[index].id == id {
                    (tests[index].file, tests[index].line) = (place.file, place.line)
                }
            }
            return (findings, tests)
        }
        guard let (found, placedTests) = placed else { return }
        var told = placedTests
        for index in told.indices.lazy.filter({ told[$0].status.isFailure }).prefix(500) {
            // A result file that names no line leaves the test at its declaration; its output knows where it failed.
            guard let place = Self.assertion(of: told[index], in: found) else { continue }
            told[index].line = place
        }
        (findings, tests) = (Self.withoutRepetition(found, of: told), told)
    }

    /// The line at which a step printed the very failure of a test, in the file that the test is in.
    private static func assertion(of test: TestResult, in findings: [Finding]) -> Int? {
        guard let file = test.file, let line = test.line, let message = test.message else { return nil }
        return findings.first { finding in
            finding.step != nil && finding.file == file && (finding.line ?? 0) > line && !finding.message.isEmpty
                && message.hasPrefix(finding.message)
        }?.line
    }

    /// Where the test's own output says that it failed, if that is a file of the repository.
    private static func place(in test: TestResult, _ paths: inout RepositoryPaths) -> (String, Int?)? {
        let text = [test.message, test.details].compactMap { $0 }.joined(separator: "\n")
        for finding in DiagnosticScanner().findings(in: Array(text.utf8)).prefix(5) {
            if let file = finding.file.flatMap({ paths.path($0, in: nil) }) { return (file, finding.line) }
        }
        return nil
    }

    /// Without what a step printed about tests that its result files tell of already.
    private static func withoutRepetition(_ findings: [Finding], of tests: [TestResult]) -> [Finding] {
        let known = Set(
            tests.filter(\.status.isFailure).compactMap { test in test.file.map { "\($0):\(test.line ?? 0)" } })
        guard !known.isEmpty else { return findings }
        return findings.filter { finding in
            guard finding.step != nil, let file = finding.file else { return true }
            return !known.contains("\(file):\(finding.line ?? 0)")
        }
    }
}
