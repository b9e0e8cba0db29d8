import Watching
import Preparing
import Store
import Reports
import Diagnostics
import Results
import Git
import Pipeline

/// Gives findings and failing tests their places in the repository: paths relative to its root, and for a test whose
/// result names no file, the line of its declaration.
struct PlaceContributor: ReportContributor {
    /// The most failing tests that get a place; nobody reads further.
    private static let mostTests = 500

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        let isNeeded =
            draft.report.findings.contains { $0.step != nil } || draft.tests.contains(where: \.status.isFailure)
        guard isNeeded else { return }
        let folders = Dictionary(
            run.prepared.plan.steps.map { ($0.name, $0.workingDirectory) }, uniquingKeysWith: { first, _ in first })
        let (findings, tests, tested) = (draft.report.findings, draft.tests, run.prepared.tested)
        let placed = try? await withRepository(at: run.repository.store) { git in
            (
                try Self.placed(findings, folders, in: git, at: tested),
                try Self.placed(tests, in: git, at: tested)
            )
        }
        guard let (found, placedTests) = placed else { return }
        draft.tests = placedTests
        for index in placedTests.indices.lazy.filter({ placedTests[$0].status.isFailure }).prefix(Self.mostTests) {
            // Without lines in the result file, a test's place is its declaration. The step's output may name the
            // assertion.
            guard let line = Self.assertion(of: placedTests[index], in: found) else { continue }
            draft.tests[index].line = line
        }
        draft.report.findings = Self.withoutRepetition(found, of: draft.tests)
    }

    /// - Parameter folders: The working directory of each step, to which paths in its output are relative.
    private static func placed(
        _ findings: [Finding], _ folders: [String: String?], in git: Repository, at tested: OID
    ) throws -> [Finding] {
        var paths = RepositoryPaths(git, tested)
        let unfinished = Array(findings.compactMap(UnfinishedTests.name).prefix(TestLocator.maximumTests))
        let places = try TestLocator(git, tested).places(of: unfinished)
        return findings.map { finding in
            var finding = finding
            if let place = UnfinishedTests.name(in: finding).flatMap({ places[$0] }) {
                (finding.file, finding.line) = (place.file, place.line)
                return finding
            }
            if finding.step != nil, let file = finding.file {
                let folder = finding.step.flatMap { folders[$0] }.flatMap { $0 }
                finding.file = paths.path(file, in: folder) ?? file
            }
            return finding
        }
    }

    private static func placed(_ tests: [TestResult], in git: Repository, at tested: OID) throws -> [TestResult] {
        var paths = RepositoryPaths(git, tested)
        var tests = tests
        var lost: [Int] = []
        for index in tests.indices.lazy.filter({ tests[$0].status.isFailure }).prefix(mostTests) {
            if let file = tests[index].file {
                tests[index].file = paths.path(file, in: nil) ?? file
            } else if let said = place(in: tests[index], &paths) {
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
        return tests
    }

    /// The line at which a step printed the test's failure, in the file that declares the test.
    private static func assertion(of test: TestResult, in findings: [Finding]) -> Int? {
        guard let file = test.file, let line = test.line, let message = test.message else { return nil }
        return findings.first { finding in
            finding.step != nil && finding.file == file && (finding.line ?? 0) > line && !finding.message.isEmpty
                && message.hasPrefix(finding.message)
        }?.line
    }

    /// The place of the failure according to the test's own output, if that is a file of the repository.
    private static func place(in test: TestResult, _ paths: inout RepositoryPaths) -> (String, Int?)? {
        let text = [test.message, test.details].compactMap { $0 }.joined(separator: "\n")
        for finding in DiagnosticScanner().findings(in: Array(text.utf8)).prefix(5) {
            if let file = finding.file.flatMap({ paths.path($0, in: nil) }) { return (file, finding.line) }
        }
        return nil
    }

    /// The findings without those in output about tests that result files report already.
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
