@testable import Reports
@testable import Results
import Foundation
import Pipeline

/// Reports to render.
enum Fixture {
    static let start = Date(timeIntervalSince1970: 1_795_269_802.5)

    /// Everything that a browser, a terminal, Markdown or an XML parser could interpret.
    static let hostile = """
        <script>alert(1)</script>"'><img src=x onerror=alert(1)>`|``]]>&lt;@team [x](http://x.example) \
        \u{202E}\u{200B}\u{1B}]0;t\u{07}\u{1B}[2J</title></style>'\u{0301}`\u{0301}|\u{0301}\u{FFFF}\u{0}
        """

    static func report(
        _ verdict: Verdict = .failed, text: String = "unit tests", steps: [StepRecord]? = nil
    ) -> Report {
        let change = Change(
            name: text, head: "5b22f4d09a1be0c7f3e2d1908a7b6c5d4e3f2a10", target: text,
            targetCommit: "f387829c0b1a2d3e4f5061728394a5b6c7d8e9f0", title: text, author: text)
        var report = Report(
            id: 18, repository: text, workflow: text, event: .pullRequest, ref: text, branch: "main", head: change.head,
            testedCommit: "9c1d0e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d", change: change, parameters: [text: text],
            verdict: verdict, reason: text, createdAt: start - 4, startedAt: start, endedAt: start + 188,
            reproduce: text, box: .init(host: text, system: text, pipectlVersion: "0.1.0"))
        report.steps = steps ?? [step(text, from: 0, to: 60, .failed, log: "1.log")]
        report.findings = [
            Finding(rule: text, severity: .error, message: text, file: text, line: 3, suggestion: text),
            Finding(rule: text, severity: .note, message: text + "\n" + text),
        ]
        report.conflicts = [.init(path: text, kind: text)]
        report.artifacts = [ArtifactRecord(step: text, path: text, bytes: 14_204_332, sha256: text)]
        report.comparison = Comparison(
            against: 3, commit: text, alsoFailing: ["\(text)/also"], newlyFailing: ["\(text)/new"], vanished: [text],
            newlySkipped: [text])
        report.trust = .change
        report.approvals = [
            Approval(
                step: text, why: text, head: text, definition: text, binding: text, askedAt: start, decision: .approved,
                by: text, user: 1000, decidedAt: start + 10, comment: text)
        ]
        return report
    }

    static func step(
        _ name: String, from: Double, to: Double, _ status: StepStatus = .passed, log: String? = nil,
        needs: [String] = []
    ) -> StepRecord {
        let attempt = AttemptRecord(
            number: 1, startedAt: start + from, endedAt: start + to, status: status, exitCode: 1,
            log: log.map { LogRecord(file: $0, bytes: 100, droppedBytes: 0) })
        return StepRecord(
            name: name, command: name, needs: needs, status: status, reason: status == .passed ? nil : name,
            attempts: [attempt])
    }

    static func failing(_ suite: String, _ name: String, message: String? = nil) -> TestResult {
        TestResult(
            suite: suite, name: name, status: .failed, duration: 0.25, message: message ?? name, details: message,
            file: "Tests/A.swift", line: 7)
    }

    static var hostileDocument: ReportDocument {
        let tests = [
            failing(hostile, "also", message: hostile), failing(hostile, "new", message: hostile),
            TestResult(suite: hostile, name: hostile, status: .skipped, message: hostile),
            TestResult(suite: hostile, name: "flaky", status: .failed, message: hostile, attempt: 1),
            TestResult(suite: hostile, name: "flaky", status: .passed, attempt: 2),
        ]
        let bytes = Array((hostile + "\n\u{1B}[31m" + hostile).utf8) + [0xFF, 0x9B, 0x00]
        return ReportDocument(report: report(text: hostile), tests: tests) { _ in
            ReportLog(bytes: bytes) { offset in offset * 10 }
        }
    }
}
