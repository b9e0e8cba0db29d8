@testable import ForgeConnection
import Diagnostics
import Foundation
import Pipeline
import Reports
import Results
import Store
import TestSupport

@testable import Forges

/// What the renderers make of a change that has a text in one place, by the name of where it is shown.
struct HostileShown {
    /// Where foreign text stands.
    enum Place: String, Sendable {
        case title, branch, label, author, test = "test name", message = "test message", log = "log line", finding
        case suggestion, rule, path = "file path", held = "file that needs approval", step = "step name", reason
        case conflict = "conflicting change", review, replacement = "new text of a review", answer, progress, scan
        case comments = "many reports"
    }

    static let mark = CommentMark(.token("token-123"), project: "octo/hello")
    private static let head = String(repeating: "a", count: 40)

    var markdown: [String: String] = [:]
    /// Texts that forges show as they are.
    var plain: [String: String] = [:]

    init(_ place: Place, _ text: String) throws {
        let facts = Self.facts(place, text)
        let check = CheckRenderer.check(facts)
        markdown["check"] = GitHubService.summary(check)
        plain["title"] = ForgeText.line(check.title, limit: 255)
        plain["status"] = ForgeText.line(check.title, limit: 140)
        for (number, annotation) in check.annotations.enumerated() {
            plain["annotation \(number)"] = annotation.message
            plain["annotation \(number) title"] = ForgeText.line(annotation.title, limit: 255)
            plain["annotation \(number) path"] = annotation.path
        }
        let scans = ScanRenderer.scans(facts)
        for (number, scan) in scans.enumerated() { plain["scan \(number)"] = "\(scan.ref) \(scan.file)" }
        try addHeld(place, text)
        addComment(place, text, facts)
        addReview(facts)
        if place == .answer {
            let answer = CommandAnswer(change: 7, comment: 9, isObeyed: false, text: text)
            markdown["answer"] = answer.body(Self.mark.answer(to: 9, change: 7))
        }
        if place == .progress || place == .step {
            let steps = (1...200).map { ForgeRunFacts.Step(name: "\(text) \($0)", status: .passed, seconds: 2) }
            var running = facts
            running.summary.state = .running
            (running.document, running.steps) = (nil, steps)
            markdown["progress"] = GitHubService.summary(CheckRenderer.check(running))
        }
    }

    private mutating func addHeld(_ place: Place, _ text: String) throws {
        guard place == .held else { return }
        var held = Self.facts(place, "x")
        (held.document, held.summary.state, held.summary.verdict) = (nil, .queued, nil)
        held.summary.heldFor = "it changes \(text)"
        let check = CheckRenderer.check(held)
        markdown["held check"] = GitHubService.summary(check)
        plain["held title"] = ForgeText.line(check.title, limit: 255)
    }

    private mutating func addComment(_ place: Place, _ text: String, _ facts: ForgeRunFacts) {
        var circumstances = ChangeCircumstances(place: QueuePlace(branch: "main", position: 1, count: 1))
        if place == .conflict {
            circumstances.conflicts = [
                EarlyConflict(
                    change: "7", head: "h", other: text, otherHead: "o", paths: Array(repeating: text, count: 9))
            ]
        }
        if place == .branch { circumstances.place?.branch = text }
        var runs = [facts]
        if place == .comments {
            // As many reports as make a comment that no forge takes as a whole.
            runs = (1...9).map { number in
                var facts = facts
                facts.summary.workflow = "w\(number)"
                facts.document?.report.workflow = "w\(number)"
                return facts
            }
        }
        if let comment = CommentRenderer.comment(7, runs: runs, circumstances: circumstances) {
            markdown["comment"] = MarkdownText.cut(
                "\(Self.mark.text(comment.change))\n\(comment.body)", bytes: GitHubService.summaryLimit)
        }
    }

    private mutating func addReview(_ facts: ForgeRunFacts) {
        guard let review = ReviewRenderer.review(7, head: Self.head, runs: [facts]), let remark = review.remarks.first
        else { return }
        let text = RemarkText(mark: Self.mark, state: review)
        markdown["remark"] = text.open(remark, suggestion: "suggestion")
        markdown["remark at GitLab"] = text.open(remark, suggestion: "suggestion:-0+0")
        markdown["settled remark"] = text.settled(remark)
    }

    private static func facts(_ place: Place, _ text: String) -> ForgeRunFacts {
        func at(_ wanted: Place, _ other: String = "a word") -> String { place == wanted ? text : other }
        let request = Sample.request()
        var report = Sample.report(3, request, verdict: .failed)
        report.head = head
        report.reason = at(.reason)
        var change = Change(
            name: "7", head: head, target: at(.branch, "main"), targetCommit: String(repeating: "b", count: 40),
            title: at(.title), author: at(.author, "ada"))
        change.labels = [at(.label, "ci")]
        report.change = change
        var step = Sample.step(at(.step, "build"), .failed)
        step.review = ReviewRecord(
            head: head, since: nil,
            findings: [
                ReviewFinding(
                    fingerprint: "f", severity: .error, rule: "r", message: at(.review), file: "a.swift", line: 3,
                    suggestion: at(.review), replacement: at(.replacement, "let a = 1"), head: head)
            ])
        report.steps = [step]
        report.findings = [
            Finding(
                rule: at(.rule, "naming"), severity: .error, message: at(.finding), file: at(.path, "a.swift"), line: 2,
                suggestion: at(.suggestion))
        ]
        report.conflicts = [Report.Conflict(path: at(.path, "b.txt"), kind: "both changed it")]
        var test = Sample.tests[0]
        (test.suite, test.name, test.status) = ("Unit", at(.test, "adds"), .failed)
        (test.message, test.details) = (at(.message), at(.message, "more words"))
        (test.file, test.line) = ("a.swift", 2)
        var summary = RunSummary(
            id: 3, repository: "r", workflow: "test", event: .pullRequest, ref: "refs/heads/x", branch: "main",
            head: head, state: .ended, verdict: .failed, reason: at(.reason), createdAt: Sample.start)
        (summary.change, summary.title) = ("7", at(.title))
        let log = at(place == .comments ? .comments : .log, "a line")
        let document = ReportDocument(report: report, tests: [test]) { _ in ReportLog(bytes: Array(log.utf8)) }
        let delta = ChangeDelta(change: [
            ChangeDelta.Hunk(path: "a.swift", oldPath: "a.swift", oldStart: 2, newStart: 2, text: " two\n+three")
        ])
        var facts = ForgeRunFacts(summary: summary, document: document, delta: delta, hasButtons: true)
        facts.resultFiles = ["001-1-1-code-scanning.sarif", at(.scan, "002-1-1-code-scanning.sarif")]
        return facts
    }
}
