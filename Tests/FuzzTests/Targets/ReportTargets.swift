@testable import Store
@testable import Reports
@testable import Results
@testable import TestReports
import Foundation
import Git
import Pipeline
import TestBasics
import TestSupport

@testable import Archive

extension FuzzTarget {
    /// An archived report, with results and a log, in every format.
    static let report = FuzzTarget.pure(
        "report", words: ["<", "\"", "'", "`", "|", "]]>", "\u{1B}["], isJSON: true, limit: 256 << 10,
        corpus: { [Array(try ReportJSON.encoder().encode(sampleReport))] + (try Corpus.results(".xml")) },
        check: checkReport)

    static var sampleReport: Report {
        let start = Date(timeIntervalSince1970: 1_795_269_802.5)
        let change = Change(
            name: "7", head: "5b22f4d09a1be0c7f3e2d1908a7b6c5d4e3f2a10", target: "main",
            targetCommit: "f387829c0b1a2d3e4f5061728394a5b6c7d8e9f0", title: "Title", author: "ada")
        var report = Report(
            id: 1, repository: "alpha", workflow: "test", event: .pullRequest, ref: "refs/pull/7/head", branch: "main",
            head: change.head, testedCommit: change.targetCommit, change: change, parameters: ["dry-run": "true"],
            verdict: .failed, reason: "1 test failed.", createdAt: start, startedAt: start, endedAt: start + 188,
            reproduce: "pipectl run test --change 7", box: .init(host: "b", system: "Linux", pipectlVersion: "0.1.0"))
        let attempt = AttemptRecord(
            number: 1, startedAt: start, endedAt: start + 3, status: .failed, exitCode: 1, signal: 6, reason: "no",
            log: LogRecord(file: "001-1.log", bytes: 100, droppedBytes: 3))
        report.steps = [
            StepRecord(name: "build", command: "swift build", status: .passed),
            StepRecord(
                name: "test", command: "swift test", needs: ["build"], status: .failed, reason: "exit code 1",
                attempts: [attempt, attempt], testCounts: TestCounts(passed: 3, failed: 1)),
        ]
        report.testCounts = TestCounts(passed: 3, failed: 1)
        report.findings = [Finding(rule: "r", severity: .error, message: "m", file: "f", line: 3, suggestion: "s")]
        report.conflicts = [.init(path: "a/b", kind: "content")]
        report.artifacts = [
            ArtifactRecord(step: "test", path: "out/a", bytes: 3, sha256: String(repeating: "ab", count: 32))
        ]
        report.comparison = Comparison(
            against: 3, commit: change.head, alsoFailing: ["S/also"], newlyFailing: ["S/new"], vanished: ["S/gone"],
            newlySkipped: ["S/skip"])
        return report
    }

    @Sendable private static func checkReport(_ bytes: [UInt8], _ random: inout SplitMix64) throws {
        let text = String(decoding: bytes.prefix(4 << 10), as: UTF8.self)
        let decoded = try? ReportJSON.decoder().decode(Report.self, from: Data(bytes))
        var report = decoded ?? sampleReport
        if decoded == nil {
            report.reason = text
            report.workflow = String(text.prefix(300))
            report.findings[0].message = text
        }
        var tests = TestResultReader().read(bytes, named: "f").tests.prefix(200).map(\.self)
        let hostile = random.pick(Hostile.texts)
        tests.append(
            TestResult(
                suite: hostile, name: text, status: .failed, duration: Double(random.pick(Hostile.numbers)),
                message: text, details: hostile, file: hostile, line: Int.max))
        let document = ReportDocument(report: report, tests: tests) { _ in
            ReportLog(bytes: bytes) { $0 &* 10 }
        }
        for colour in [false, true] {
            let text = document.render(.text, options: RenderOptions(colour: colour, width: random.below(200)))
            try SafeText.demandTerminal(text, colours: colour)
        }
        let markdown = document.render(.markdown)
        try demand(markdown.utf8.count <= 65_000, "\(markdown.utf8.count) bytes of Markdown")
        try PageRules.hold(document.render(.html), sample: PageRules.vocabulary)
        let junit = TestResultReader().read(Array(document.render(.junit).utf8), named: "j", format: .junit)
        let broken = junit.findings.filter { $0.severity == .error }
        try demand(broken.isEmpty, "our JUnit file: \(broken.first?.message ?? "")")
        try demand(junit.tests.count >= min(report.steps.count, 1), "our JUnit file has no tests")
        let json = Data(document.render(.json).utf8)
        try demand((try? JSONDecoder().decode(JSONTree.self, from: json)) != nil, "our JSON is none")
    }

    /// A run of the archive with arbitrary files: an index is rebuilt without it and reports that.
    static let archive = FuzzTarget(
        name: "archive",
        corpus: { [try ArchiveJSON.pretty(sampleReport), try ArchiveJSON.pretty(sampleRequest), Array("[]".utf8)] },
        isJSON: true, limit: 64 << 10
    ) { loop in
        try await withFuzzFolder { folder in
            let store = try ArchiveStore(home: folder)
            try await loop { input, random in
                let file = random.pick(["report.json", "request.json", "tests.json", "logs/001-1.log", "logs"])
                try await replace(file, with: input.bytes, in: store)
                let index = try Index.inMemory()
                let outcome = try await store.reindex(into: index)
                try demand(
                    outcome.restored + outcome.problems.count == 1,
                    "\(outcome.restored) restored, \(outcome.problems.count) problems")
                for problem in outcome.problems + (try await store.verify(index)) {
                    try demand(!problem.description.isEmpty, "a problem without words")
                    try demand(problem.description.utf8.count < 16 << 10, "a problem of very many words")
                }
                _ = try? await store.tests(1)
                _ = try? await store.log(1, "001-1.log")
            }
        }
    }

    private static var sampleRequest: RunRequest {
        RunRequest(
            repository: "alpha", workflow: "test", event: .pullRequest, ref: "refs/pull/7/head", branch: "main",
            head: "5b22f4d09a1be0c7f3e2d1908a7b6c5d4e3f2a10",
            definitionCommit: "f387829c0b1a2d3e4f5061728394a5b6c7d8e9f0", change: sampleReport.change, subject: "7",
            concurrency: .queue(max: 3))
    }

    static func replace(_ file: String, with bytes: [UInt8], in store: ArchiveStore) async throws {
        let (report, request) = (try ArchiveJSON.pretty(sampleReport), try ArchiveJSON.pretty(sampleRequest))
        try await withRepository(at: store.repositoryPath) { repository in
            var files: [String: TreeFile] = [
                "report.json": .blob(try repository.createBlob(report)),
                "request.json": .blob(try repository.createBlob(request)),
            ]
            files[file] = .blob(try repository.createBlob(bytes))
            let author = Signature(name: "m", email: "m@x", time: Date(timeIntervalSince1970: 1_790_000_000))
            let commit = try repository.createCommit(
                tree: repository.createTree(files), parents: [], author: author, committer: author, message: "run")
            try repository.setRef("refs/runs/1", to: commit, message: "fuzz")
        }
    }
}
