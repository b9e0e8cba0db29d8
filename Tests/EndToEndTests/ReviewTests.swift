import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Review steps, with scripts as reviewers: correct, wrong, slow and malicious ones.
struct ReviewTests {
    /// The reviewer is the script `reviewer` in the meeting folder, so each test has its own and can change it.
    private static func files(_ bench: Bench, _ options: String = "") -> [String: String] {
        Workflows.test(
            """
            Review(by: "sh \(bench.meet)/reviewer", rules: ["RULES.md"]\(options))
            """, files: ["RULES.md": "No shouting.\n", "a.txt": "a\n"])
    }

    private func reviewer(_ bench: Bench, _ script: String) throws {
        try Data(script.utf8).write(to: URL(fileURLWithPath: "\(bench.meet)/reviewer"))
    }

    private func review(_ bench: Bench, _ number: Int = 1) async throws -> Int32 {
        try await bench.pipectl("run", "test", "--change", "\(number)").code
    }

    @Test(.timeLimit(.minutes(8)))
    func `findings of a review gate the run, appear once and are tracked to their end`() async throws {
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench), "Review")
            // The change brings other rules, by which it must not be judged.
            let first = try await bench.change(1, ["b.txt": "SHOUT\n", "RULES.md": "All is allowed.\n"])
            try reviewer(
                bench,
                """
                cat > \(bench.meet)/prompt-1
                echo '{"findings": [{"severity": "error", "rule": "shouting", "message": "line 1 shouts", "file": "b.txt", "line": 1},
                  {"severity": "note", "message": "short"}]}'
                """)
            #expect(try await review(bench) == 1)
            let one = try await bench.report(1)
            let finding = try #require(one.findings.first { $0.rule == "review/shouting" })
            #expect(finding.file == "b.txt" && finding.line == 1 && finding.severity == .error)
            #expect(one.reason.contains("1 open finding of severity error or more"))
            let prompt = try String(contentsOfFile: "\(bench.meet)/prompt-1", encoding: .utf8)
            #expect(prompt.contains("No shouting.") && prompt.contains("+SHOUT"))
            #expect(!prompt.components(separatedBy: "## The change")[0].contains("All is allowed"))
            let print = try #require(one.steps.first?.review?.findings.first?.fingerprint)

            // The same head again: no reviewer runs, and open findings stay open.
            try reviewer(bench, "exit 9")
            #expect(try await review(bench) == 1)
            #expect(try await bench.report(2).steps.first?.attempts.isEmpty == true)

            // A push that fixes nothing: only new findings are shown; the same remark at another line is not repeated.
            let second = try await bench.change(1, ["c.txt": "quiet\n"], from: first)
            try reviewer(
                bench,
                """
                cat > \(bench.meet)/prompt-3
                echo '{"findings": [{"severity": "error", "rule": "shouting", "message": "line 7 shouts", "file": "b.txt", "line": 7}]}'
                """)
            #expect(try await review(bench) == 1)
            let three = try await bench.report(3)
            #expect(three.steps.first?.review?.findings.count == 2, "none is repeated")
            let next = try String(contentsOfFile: "\(bench.meet)/prompt-3", encoding: .utf8)
            #expect(next.contains("+quiet") && !next.contains("+SHOUT") && next.contains(print))

            // Fixed, and the reviewer says so.
            try await bench.change(1, ["b.txt": "calm\n"], from: second)
            try reviewer(
                bench,
                """
                cat > /dev/null
                echo '{"findings": [], "earlier": [{"fingerprint": "\(print)", "fate": "fixed"}]}'
                """)
            #expect(try await review(bench) == 0)
            let four = try await bench.report(4)
            #expect(four.steps.first?.review?.findings.first?.fate == .fixed)
            #expect(!four.findings.contains { $0.rule == "review/shouting" })
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a review without findings says so, and of many the most severe stay`() async throws {
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench, ", maximum: 2"), "Review")
            try await bench.change(1, ["b.txt": "b\n"])
            try reviewer(bench, "echo '{\"findings\": []}'")
            #expect(try await review(bench) == 0)
            #expect(
                try await bench.report(1).findings.contains { $0.message.hasPrefix("no findings: the whole change") })
            try await bench.change(2, ["d.txt": "d\n"])
            try reviewer(
                bench,
                """
                echo '{"findings": [{"severity": "note", "message": "first"}, {"severity": "note", "message": "second"},
                {"severity": "error", "message": "third"}, {"severity": "note", "message": "first"}]}'
                """)
            #expect(try await review(bench, 2) == 1)
            let record = try #require(try await bench.report(2).steps.first?.review)
            #expect(record.findings.map(\.message) == ["third", "first"] && record.leftOut == 1)
        }
    }

    @Test(
        .timeLimit(.minutes(6)),
        arguments: [
            ("it fails", "echo '{\"findings\": []}'; exit 3", "exit code 3"),
            ("it says nothing", "cat > /dev/null", "it gave no answer"),
            ("it talks", "echo 'Sure! Here it is:'; echo '{\"findings\": []}'", "text around it"),
            ("another form", "echo '{\"issues\": []}'", "\"findings\" is missing"),
            (
                "another word", "echo '{\"findings\": [{\"severity\": \"fatal\", \"message\": \"x\"}]}'",
                "another type or value"
            ),
            ("it never ends", "echo '{\"findings\": []}'; sleep 1000", "longer than 3 s"),
            ("it talks without end", "yes '{\"findings\": []}'", "longer than 256 KiB"),
            (
                "a link to a file of the box", "echo x; ln -sf /etc/passwd \"$PIPECTL_VALUES_OUT/review.json\"",
                "no review"
            ),
        ])
    func aBrokenReviewerIsNoPassAndNoFailure(_ name: String, script: String, words: String) async throws {
        let limit = name == "it never ends" ? 3 : 120
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench, ", within: .seconds(\(limit))"), "Review")
            try await bench.change(1, ["b.txt": "b\n"])
            try reviewer(bench, script)
            #expect(try await review(bench) == 3, "\(name)")
            let report = try await bench.report(1)
            #expect(report.verdict == .infrastructure)
            #expect(report.reason.contains("there is no review") && report.reason.contains(words), "\(report.reason)")
            #expect(report.steps.first?.review == nil)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `output of a reviewer reaches no terminal unescaped`() async throws {
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench, ", gate: .warning"), "Review")
            try await bench.change(1, ["b.txt": "b\n"])
            try reviewer(
                bench,
                #"""
                printf '{"findings": [{"severity": "warning", "message": "\\u001b[2Jgone <script>alert(1)</script>", "file": "../../etc/passwd", "line": -4}]}'
                """#)
            #expect(try await review(bench) == 1)
            let text = try await bench.pipectl("report", "1").output
            #expect(!text.contains("\u{1b}[2J") && text.contains("gone"))
            let page = try await bench.pipectl("report", "1", "--format", "html").output
            #expect(!page.contains("<script>alert(1)"))
            #expect(try await bench.report(1).steps.first?.review?.findings.first?.line == nil)
        }
    }
}
