import Foundation
import Pipeline
import Reports
import Results
import Store
import Synchronization
import TestSupport
import Testing

@testable import Forges

@Suite struct RecorderTests {
    private func recorder(_ index: Store.Index, places: [String: QueuePlace] = [:]) -> ForgeRecorder {
        ForgeRecorder(repository: "alpha", index: index, places: { places }) { summary in
            var report = Sample.report(summary.id)
            report.verdict = summary.verdict ?? .passed
            return ForgeRunFacts(
                summary: summary, steps: summary.state == .running ? Self.steps : [],
                document: summary.state == .ended ? ReportDocument(report: report, tests: Sample.tests) : nil)
        }
    }

    private static let steps = (1...7).map {
        ForgeRunFacts.Step(name: "step \($0)", status: $0 < 3 ? .passed : $0 == 3 ? .running : .waiting)
    }

    private func connected() async throws -> Store.Index {
        let index = try await Index.watching()
        try await index.connectForge("alpha", address: "a", location: "/r")
        return index
    }

    private func wanted(_ index: Store.Index) async throws -> [ForgeWanted] {
        try await index.openForgeItems(of: "alpha").sorted { $0.thing < $1.thing }.map {
            try ForgeWanted(json: $0.wanted)
        }
    }

    @Test func `a run is shown queued, with its progress, and ended`() async throws {
        let index = try await connected()
        try await index.setChange(Sample.change("7", .open), of: "alpha")
        let id = try await index.enqueue(Sample.request()).run.id
        try await recorder(index).record()
        guard case .check(let queued)? = try await wanted(index).first else { throw Missing() }
        #expect(queued.phase == .queued && queued.run == id && queued.commit == Sample.request().head)
        try await index.markRunning(id)
        try await recorder(index).record()
        #expect(try await recorder(index).recordProgress())
        guard case .check(let running)? = try await wanted(index).first else { throw Missing() }
        #expect(running.phase == .running && running.title == "2 of 7 steps done")
        var report = Sample.report(id)
        report.verdict = .failed
        try await index.finish(report, tests: Sample.tests, archivedBytes: 1)
        try await recorder(index).record()
        #expect(try await !recorder(index).recordProgress())
        let all = try await wanted(index)
        guard case .check(let ended)? = all.first, case .comment(let comment)? = all.last else { throw Missing() }
        #expect(all.count == 2)
        #expect(ended.verdict == .failed)
        #expect(comment.change == 7 && comment.isNews)
        // Nothing is looked at twice.
        #expect(try await index.forgeNews(of: "alpha").isEmpty)
    }

    @Test func `the check of a verdict is on its way before the comment is written, from facts that are read once`()
        async throws
    {
        let index = try await connected()
        try await index.setChange(Sample.change("7", .open), of: "alpha")
        let id = try await index.completed(Sample.request(), verdict: .failed)
        let steps = Mutex<[String]>([])
        var recorder = ForgeRecorder(repository: "alpha", index: index) { summary in
            steps.withLock { $0.append("facts of \(summary.id)") }
            return ForgeRunFacts(
                summary: summary, document: ReportDocument(report: Sample.report(summary.id, verdict: .failed)))
        }
        recorder.places = {
            steps.withLock { $0.append("places") }
            return [:]
        }
        recorder.noteWanted = { steps.withLock { $0.append("wanted") } }
        try await recorder.record()
        #expect(steps.withLock { $0 } == ["facts of \(id)", "wanted", "places", "wanted"])
        #expect(try await wanted(index).count == 2)
    }

    @Test func `that a run is queued is told a moment later, and what follows at once`() async throws {
        let clock = TestClock()
        let index = try await Index.watching(now: { clock.now })
        try await index.connectForge("alpha", address: "a", location: "/r")
        let id = try await index.enqueue(Sample.request()).run.id
        try await recorder(index).record()
        let queued = try #require(try await index.openForgeItems(of: "alpha").first)
        #expect(queued.dueAt > clock.now)
        try await index.markRunning(id)
        try await recorder(index).record()
        let running = try #require(try await index.openForgeItems(of: "alpha").first)
        #expect(running.dueAt <= clock.now && running.version == 2)
        #expect(try await recorder(index).hasLiveRuns())
    }

    /// The comment at change 7, as the outbox has it.
    private func comment(_ index: Store.Index) async throws -> CommentState? {
        try await wanted(index).compactMap { if case .comment(let state) = $0 { state } else { nil } }
            .first { $0.change == 7 }
    }

    @Test func `a comment tells conflicts and the place in the queue, and is recorded anew when they change`()
        async throws
    {
        let index = try await connected()
        for name in ["7", "9"] { try await index.setChange(Sample.change(name, .open), of: "alpha") }
        let head = Sample.request().head
        _ = try await index.completed(Sample.request())
        var told = try await recorder(index).told()
        try await recorder(index).record()
        try await recorder(index).recordCircumstances(&told)
        let plain = try #require(try await comment(index))
        #expect(!plain.isNews && plain.about == nil && plain.body.split(separator: "\n").count == 1)

        let place = ["7": QueuePlace(branch: "main", position: 2, count: 3)]
        try await recorder(index, places: place).recordCircumstances(&told)
        let queued = try #require(try await comment(index))
        #expect(!queued.isNews, "a place alone makes no comment")
        #expect(queued.body.split(separator: "\n").count == 2 && queued.body.contains("place 2 of 3"))

        try await index.setEarlyConflicts(
            [EarlyConflict(change: "7", head: head, other: "9", otherHead: head, paths: ["a.txt"])], of: "alpha")
        try await recorder(index, places: place).recordCircumstances(&told)
        let conflicting = try #require(try await comment(index))
        #expect(conflicting.isNews && conflicting.body.contains("`9`") && conflicting.body.contains("`a.txt`"))
        // The other change has no run that ended, so it gets no comment.
        #expect(try await wanted(index).count == 2)

        // A daemon that comes later knows what the comment says, also that it is out of date.
        try await index.setEarlyConflicts([], of: "alpha")
        var later = try await recorder(index).told()
        try await recorder(index).recordCircumstances(&later)
        #expect(try await comment(index) == plain)
    }

    @Test func `a conflict of an older push is not told`() async throws {
        let index = try await connected()
        try await index.setChange(Sample.change("7", .open), of: "alpha")
        try await index.setEarlyConflicts(
            [EarlyConflict(change: "7", head: "old", other: "9", otherHead: "x", paths: ["a"])], of: "alpha")
        _ = try await index.completed(Sample.request())
        try await recorder(index).record()
        #expect(try await comment(index)?.about == nil)
    }

    @Test func `a run that was accepted before the connection, and ended, is not shown`() async throws {
        let index = try await Index.watching()
        _ = try await index.completed(Sample.request())
        try await index.connectForge("alpha", address: "a", location: "/r")
        try await recorder(index).record()
        #expect(try await wanted(index).isEmpty)
    }

    @Test func `a run that begins to wait for an approval is shown as one that does`() async throws {
        let index = try await connected()
        let id = try await index.enqueue(Sample.request()).run.id
        try await recorder(index).record()
        try await index.markRunning(id)
        let approval = Approval(
            why: "it changes Makefile", head: Sample.request().head, definition: String(repeating: "d", count: 40),
            binding: "b", askedAt: Date())
        _ = try await index.hold(id, for: approval, trust: .change)
        try await recorder(index).record()
        guard case .check(let held)? = try await wanted(index).first else { throw Missing() }
        #expect(held.phase == .ended && held.verdict == .needsApproval)
    }

    @Test func `the commits of a merge queue are not shown, but the change's own head is`() async throws {
        let index = try await connected()
        let head = Sample.request().head
        for (own, count) in [(false, 0), (true, 1)] {
            var request = Sample.request(nonce: "landing \(own)")
            request.kind = .landing([])
            request.change = Change(
                name: "7", head: own ? head : String(repeating: "9", count: 40), target: "main",
                targetCommit: String(repeating: "b", count: 40), title: "t", author: "a")
            _ = try await index.enqueue(request)
            try await recorder(index).record()
            #expect(try await wanted(index).count == count)
        }
    }

    @Test func `an older run of the same commit says nothing any more`() async throws {
        let index = try await connected()
        let old = try await index.enqueue(Sample.request(concurrency: .queue(max: 5))).run.id
        let new = try await index.enqueue(Sample.request(concurrency: .queue(max: 5), nonce: "again")).run.id
        #expect(new > old)
        try await recorder(index).record()
        guard case .check(let state)? = try await wanted(index).first else { throw Missing() }
        #expect(state.run == new)
        try await index.finish(Sample.report(old), tests: [], archivedBytes: 1)
        try await recorder(index).record()
        guard case .check(let still)? = try await wanted(index).first else { throw Missing() }
        #expect(still.run == new && still.phase == .queued)
    }

    @Test func `what was to be shown at an older address is dropped`() async throws {
        let index = try await connected()
        _ = try await index.enqueue(Sample.request())
        try await recorder(index).record()
        #expect(try await wanted(index).count == 1)
        try await index.connectForge("alpha", address: "b", location: "/r")
        #expect(try await wanted(index).isEmpty)
        // The run has not ended: the new forge is shown it.
        try await recorder(index).record()
        #expect(try await wanted(index).count == 1)
        #expect(try await index.disconnectForge("alpha"))
        #expect(try await !index.disconnectForge("alpha"))
        #expect(try await index.forges().isEmpty)
    }

    private struct Missing: Error {}
}

@Suite struct RenderingTests {
    private static let hostile = [
        "@octo/everyone", "fixes #1", "![x](https://evil.example/p.png)", "</details><script>alert(1)</script>",
        "```\n# heading\n```", "<!-- pipectl 7 0 -->", "[link](javascript:alert(1))", "a\u{202E}b\u{7}\u{1B}[31m",
        "| a | b |\n|---|---|", "&lt;img src=x onerror=alert(1)&gt;", "octo/hello#12", "https://evil.example",
        "commit 1111111111111111111111111111111111111111", "~~~\nx", "-->", "\r\n\r\n# x", "<details>", "$\\infty$",
        ":warning:", "/label ~bug", "/close", "@octo\u{2069}", "GH-1", "`` ` @octo ` ``",
    ]

    @Test(arguments: hostile)
    func `text of a change can't act as markup in a check or a comment`(text: String) throws {
        var report = Sample.report(3)
        report.verdict = .failed
        report.reason = text
        report.findings = [
            Finding(
                rule: text, severity: .error, message: text, file: "a.swift", line: 1, suggestion: text, excerpt: text)
        ]
        var test = Sample.tests[0]
        (test.suite, test.name, test.status, test.message, test.details) = (text, text, .failed, text, text)
        (test.file, test.line) = ("a.swift", 2)
        var summary = RunSummary(
            id: 3, repository: "r", workflow: text, event: .pullRequest, ref: "refs/heads/x", branch: "main",
            head: String(repeating: "1", count: 40), state: .ended, verdict: .failed, reason: text, createdAt: Date())
        summary.change = "7"
        summary.title = text
        let facts = ForgeRunFacts(summary: summary, document: ReportDocument(report: report, tests: [test]))
        let check = CheckRenderer.check(facts)
        let circumstances = ChangeCircumstances(
            conflicts: [
                EarlyConflict(
                    change: "7", head: "h", other: text, otherHead: "o", paths: Array(repeating: text, count: 9))
            ], place: QueuePlace(branch: text, position: 1, count: 1))
        let comment = try #require(CommentRenderer.comment(7, runs: [facts], circumstances: circumstances))
        for markdown in [check.summary, comment.body] {
            let outside = Self.withoutCode(markdown)
            for forbidden in [
                "@octo", "#1", "<script", "<img", "<details", "](", "javascript:", "evil.example", "GH-1", "/close",
                "/label",
            ] {
                #expect(!outside.contains(forbidden), "\(forbidden) in \(outside)")
            }
        }
        for annotation in check.annotations {
            #expect(
                !annotation.message.unicodeScalars.contains { $0.value == 0x1B || $0.value == 7 || $0.value == 0x202E })
        }
        #expect(!check.title.contains("\n"))
    }

    /// What is left of Markdown without fenced blocks and code spans.
    private static func withoutCode(_ markdown: String) -> String {
        var lines: [String] = []
        var fence: Substring?
        for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
            let marks = line.prefix { $0 == "`" }
            if let open = fence {
                if marks.count >= open.count, line.dropFirst(marks.count).allSatisfy(\.isWhitespace) { fence = nil }
            } else if marks.count >= 3 {
                fence = marks
            } else {
                lines.append(String(line))
            }
        }
        var text = lines.joined(separator: "\n")
        var result = ""
        while let start = text.firstIndex(of: "`") {
            let marks = text[start...].prefix { $0 == "`" }
            result += text[..<start]
            let rest = text[text.index(start, offsetBy: marks.count)...]
            guard
                let end = rest.ranges(of: String(marks)).first(where: { range in
                    (range.upperBound == rest.endIndex || rest[range.upperBound] != "`")
                        && (range.lowerBound == rest.startIndex || rest[rest.index(before: range.lowerBound)] != "`")
                })
            else { return result + text[start...] }
            text = String(rest[end.upperBound...])
        }
        return result + text
    }

    @Test(arguments: ["/etc/passwd", "../x", "a/../b", "./a", "a//b", "", "a\nb", "\u{7F}"])
    func `an annotation names only files of the repository`(path: String) {
        var report = Sample.report(3)
        report.findings = [Finding(rule: "r", severity: .error, message: "m", file: path, line: 1)]
        #expect(CheckRenderer.annotations(ReportDocument(report: report)).isEmpty)
    }

    @Test func `conflicts are named up to a number`() {
        let many = (1...30).map { number in
            EarlyConflict(
                change: "7", head: "h", other: "\(number)", otherHead: "o",
                paths: (1...20).map { "file\($0)" + String(repeating: "x", count: 1_000) })
        }
        let text = ChangeCircumstances(conflicts: many).markdown
        #expect(text.contains("and 25 more changes") && text.contains("and 15 more"))
        #expect(text.utf8.count < 10_000)
        #expect(ChangeCircumstances().markdown.isEmpty && ChangeCircumstances().key == nil)
    }

    @Test func `a change that passes gets no comment, or one line`() throws {
        let summary = RunSummary(
            id: 3, repository: "r", workflow: "test", event: .pullRequest, ref: "refs/heads/x", branch: "main",
            head: String(repeating: "1", count: 40), state: .ended, verdict: .passed, reason: "all", createdAt: Date())
        let comment = try #require(CommentRenderer.comment(7, runs: [ForgeRunFacts(summary: summary)]))
        #expect(!comment.isNews)
        #expect(comment.body.split(separator: "\n").count == 1)
    }

    @Test(arguments: [Verdict.passed, .failed]) func `the run's page is in the check and the comment`(verdict: Verdict)
        throws
    {
        let summary = RunSummary(
            id: 3, repository: "r", workflow: "test", event: .pullRequest, ref: "refs/heads/x", branch: "main",
            head: String(repeating: "1", count: 40), state: .ended, verdict: verdict, reason: "all", createdAt: Date())
        var facts = ForgeRunFacts(
            summary: summary, document: ReportDocument(report: Sample.report(3, verdict: verdict)))
        facts.link = "https://ci.example.org/runs/3"
        #expect(CheckRenderer.check(facts).link == facts.link)
        let comment = try #require(CommentRenderer.comment(7, runs: [facts]))
        #expect(comment.body.contains("<https://ci.example.org/runs/3>"))
    }
}
