@testable import Reports
@testable import Results
import Foundation
import Pipeline
import Testing

@Suite struct ReportRenderingTests {
    @Test(arguments: Verdict.allCases, ReportFormat.allCases)
    func `every verdict renders in every format`(verdict: Verdict, format: ReportFormat) {
        let text = ReportDocument(report: Fixture.report(verdict)).render(format)
        #expect(text.hasSuffix("\n"))
        switch format {
        case .text: #expect(text.contains(verdict.title.uppercased()))
        case .markdown, .html: #expect(text.lowercased().contains(verdict.title))
        case .json: #expect(text.contains("\"verdict\" : \"\(verdict.rawValue)\""))
        case .junit: #expect(text.hasPrefix("<?xml"))
        }
    }

    @Test func `all formats say the same of what was tested`() {
        for (tested, isMerge) in [("9c1d0e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d", true), (nil, false)] {
            var report = Fixture.report()
            report.testedCommit = tested ?? report.change?.head
            for format in [ReportFormat.text, .markdown, .html] {
                let text = ReportDocument(report: report).render(format)
                #expect(text.contains("the head merged into the target") == isMerge, "\(format)")
                #expect(text.contains("the head, which already contains the target") != isMerge, "\(format)")
            }
        }
    }

    @Test func `a tab is not drawn as a picture of itself on a page`() {
        var report = Fixture.report(text: "x")
        report.findings = [Finding(rule: "r", severity: .error, message: "a\tb")]
        for format in [ReportFormat.html, .markdown] {
            #expect(!ReportDocument(report: report).render(format).contains("\u{2409}"))
        }
    }

    @Test(
        arguments: [
            ("r.html", ReportFormat.html), ("a/B.HTM", .html), ("r.md", .markdown), ("r.markdown", .markdown),
            ("r.json", .json), ("r.xml", .junit), ("r.txt", .text), ("r", nil), ("html", nil), (".html", nil),
            ("r.pdf", nil),
        ] as [(String, ReportFormat?)])
    func `a file's extension chooses the format`(path: String, expected: ReportFormat?) {
        #expect(ReportFormat(path: path) == expected)
    }

    @Test(arguments: [ReportFormat.text, .markdown])
    func `a change is shown with its author, its labels and whether it is a draft`(format: ReportFormat) throws {
        var report = Fixture.report()
        report.change?.author = "ada"
        let plain = ReportDocument(report: report).render(format)
        #expect(plain.contains("ada") && !plain.contains("draft") && !plain.contains("labels"))
        report.change?.isDraft = true
        report.change?.labels = ["ci", "a\u{1B}[31m|`x"]
        let text = ReportDocument(report: report).render(format)
        let line = try #require(text.split(separator: "\n").first { $0.contains("labels") })
        #expect(text.contains("draft") && line.contains("ci") && !line.contains("\u{1B}"))
    }

    // MARK: Text

    @Test func `the text report ends with the next command`() {
        let text = ReportDocument(report: Fixture.report()).render(.text)
        #expect(text.split(separator: "\n").last == "Read the whole log: pipectl logs 18 \"unit tests\"")
        #expect(!text.contains("\u{1B}"))
        let passed = ReportDocument(report: Fixture.report(.passed)).render(.text)
        #expect(passed.split(separator: "\n").last?.hasPrefix("  reproduce") == true)
    }

    @Test func `tests that fail only in this run come first`() throws {
        let tests = [Fixture.failing("unit tests", "also"), Fixture.failing("unit tests", "new")]
        for format in [ReportFormat.text, .markdown, .html] {
            let text = ReportDocument(report: Fixture.report(), tests: tests).render(format)
            let new = try #require(text.range(of: "new in this change"))
            let also = try #require(text.range(of: "also fails on the target"))
            #expect(new.lowerBound < also.lowerBound)
            #expect(text.contains("Tests/A.swift:7"))
        }
    }

    @Test func `hostile text has no effect on a terminal`() {
        let plain = Fixture.hostileDocument.render(.text)
        #expect(!plain.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" || $0 == "\u{202E}" })
        let coloured = Fixture.hostileDocument.render(.text, options: RenderOptions(colour: true))
        let rest = coloured.replacing(/\u{1B}\[[0-9;]*m/.matchingSemantics(.unicodeScalar), with: "")
        #expect(!rest.unicodeScalars.contains("\u{1B}"))
    }

    @Test(arguments: [
        ("plain", "plain"), ("unit tests", "\"unit tests\""), ("it's", "\"it's\""), ("a$(b)'c", "'a$(b)'\\''c'"),
        ("", "\"\""), ("$'\u{0301}", "'$'\\''\u{0301}'"), ("\"\u{0301}", "'\"\u{0301}'"),
    ])
    func shellWords(_ text: String, _ expected: String) {
        #expect(Array(text.shellWord.unicodeScalars) == Array(expected.unicodeScalars))
    }

    // MARK: Tries

    @Test func `the last attempt of a test decides`() {
        let tests = [
            TestResult(suite: "S", name: "a", status: .failed, message: "first", attempt: 1),
            TestResult(suite: "S", name: "a", status: .passed, attempt: 2),
            // The same test in another step.
            TestResult(suite: "S", name: "a", status: .failed, attempt: 1),
        ]
        let facts = ReportFacts(ReportDocument(report: Fixture.report(), tests: tests))
        #expect(facts.tests.count == 2)
        #expect(facts.flaky.map(\.earlierFailure) == ["first"])
        #expect(facts.failing.count == 1)
    }

    @Test func `a superseded run leads to its successor, if the report names it`() {
        var report = Fixture.report(.superseded)
        report.reason = "Run 19 took its place."
        #expect(ReportFacts(ReportDocument(report: report)).nextCommand == "pipectl show 18")
        report.supersededBy = 19
        #expect(ReportFacts(ReportDocument(report: report)).nextCommand == "pipectl show 19")
    }

    // MARK: JSON

    @Test func `JSON has the report and its tests`() throws {
        let document = Fixture.hostileDocument
        let data = Data(document.render(.json).utf8)
        #expect(try ReportJSON.decoder().decode(Report.self, from: data) == document.report)
        struct Tests: Decodable { var tests: [TestResult] }
        #expect(try JSONDecoder().decode(Tests.self, from: data).tests == document.tests)
        #expect(document.render(.json).contains("\"startedAt\" : \"2026-11-21T14:03:22.500Z\""))
        #expect(document.render(.json) == document.render(.json))
    }

    @Test func `JSON can represent an impossible duration`() {
        let test = TestResult(suite: "", name: "a", status: .passed, duration: .infinity)
        #expect(ReportDocument(report: Fixture.report(), tests: [test]).render(.json).contains("\"Infinity\""))
    }

    // MARK: Markdown

    @Test(arguments: [2_000, 5_000, 65_000])
    func `Markdown is never longer than its limit`(limit: Int) {
        let message = String(repeating: "long ", count: 50)
        let tests = (0..<5_000).map { Fixture.failing("Suite", "test\($0)", message: message) }
        var report = Fixture.report()
        report.conflicts = (0..<500).map { .init(path: "file\($0)", kind: "both changed") }
        let text = ReportDocument(report: report, tests: tests)
            .render(.markdown, options: RenderOptions(markdownLimit: limit))
        #expect(text.utf8.count <= limit)
        #expect(text.contains("_Omitted for length: "))
        #expect(text.contains("test0"))
        #expect(text.contains("Reproduce: "))
        #expect(text.contains("pipectl logs 18"))
    }

    @Test(arguments: [
        ("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("`\u{0301}", "`` `\u{0301} ``"), ("", "(empty)"),
        ("a\nb", "`a␊b`"),
    ])
    func codeSpans(_ text: String, _ expected: String) {
        #expect(Array(MarkdownText.code(text).utf8) == Array(expected.utf8))
    }

    @Test(arguments: [
        ("Exit code 1, after 3 tries.", true), ("see @team", false), ("see http://x.example", false),
        ("<b>", false), ("a_b_", false), ("www.x", false), ("#12", false), ("[a](b)", false),
        ("http:/\u{0301}/x", false),
    ])
    func sentences(_ text: String, isPlain: Bool) {
        #expect((MarkdownText.inline(text) == text) == isPlain)
    }

    @Test func `Markdown that is cut ends with a whole line, outside of code`() {
        let code = MarkdownText.block(
            "x\n```\ny\n\(String(repeating: "z\n", count: 100))".utf8, lines: 200, bytes: 9_000)
        let text = "- one `@octo`\n\n\(code)\n- two `@octo`\n"
        for limit in 20...text.utf8.count + 20 {
            let cut = MarkdownText.cut(text, bytes: limit)
            guard limit < text.utf8.count else {
                #expect(cut == text)
                continue
            }
            let lines = cut.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.last == "… (cut)" && cut.utf8.count <= limit)
            // The block is of four backticks, since three are in it.
            #expect(lines.count { $0.hasPrefix("````") }.isMultiple(of: 2))
            #expect(lines.allSatisfy { $0.count { $0 == "`" } != 1 })
        }
    }

    @Test(arguments: ["1. x", "2) x", "12.", "- x", "=", "    x", "x ", "/close"])
    func `a sentence that could begin a list, a heading or code is code`(text: String) {
        #expect(MarkdownText.inline(text).hasPrefix("`"))
    }

    @Test(arguments: ["1 of 3 steps failed", "2.5 s, 3 tests", "all is well", "(see below)"])
    func `a plain sentence stays one`(text: String) {
        #expect(MarkdownText.inline(text) == text)
    }

    @Test func `fences are longer than any backticks inside`() {
        let block = MarkdownText.block("a\n`````\nb".utf8, lines: 10, bytes: 100)
        #expect(block == "``````text\na\n`````\nb\n``````\n")
        let tail = MarkdownText.block("a\nb\nc".utf8, lines: 2, bytes: 100, fromEnd: true)
        #expect(tail == "```text\n… 1 more line\nb\nc\n```\n")
    }

    // MARK: JUnit

    @Test func `JUnit is valid XML`() throws {
        let xml = Fixture.hostileDocument.render(.junit)
        #expect(xml.contains("failures=\"3\""))
        #expect(xml.contains("flakyFailure"))
        // XML 1.0, section 2.2: what a parser refuses.
        #expect(!xml.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" || $0.value == 0xFFFF })
        // Markup is only ours: each tag is one of these, and quotes are balanced in it.
        let tags = xml.matches(of: /<[^>]*>/.matchingSemantics(.unicodeScalar)).map { String($0.output) }
        let names = ["<?xml", "<testsuites", "<testsuite", "<testcase", "<failure", "<skipped", "<flakyFailure", "</"]
        for tag in tags {
            #expect(names.contains { tag.hasPrefix($0) })
            #expect(tag.utf8.count { $0 == UInt8(ascii: "\"") }.isMultiple(of: 2))
        }
    }

    // MARK: Words

    @Test(arguments: [
        (0, "0 ms"), (0.25, "250 ms"), (0.9996, "1 s"), (12.34, "12.3 s"), (59.97, "1 min"), (123, "2 min 3 s"),
        (3_599.7, "1 h"), (3_840, "1 h 4 min"), (-1, "–"), (Double.infinity, "–"), (Double.nan, "–"),
    ])
    func durations(_ seconds: Double, _ expected: String) {
        #expect(Figures.duration(seconds) == expected)
    }

    @Test(arguments: [
        (-5.0, "0 s ago"), (59.9, "59 s ago"), (60, "1 min ago"), (7_199, "1 h ago"), (90_000, "1 d ago"),
    ])
    func ages(_ seconds: Double, _ expected: String) {
        let date = Date(timeIntervalSince1970: 1_000_000)
        #expect(Figures.age(of: date, at: date + seconds) == expected)
    }

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"), (4_107_542_399.5, "2100-02-28T23:59:59.500Z"),
        (-62_135_596_800, "0001-01-01T00:00:00.000Z"),
    ])
    func times(_ seconds: Double, _ expected: String) {
        #expect(Date(timeIntervalSince1970: seconds).iso8601 == expected)
    }

    @Test(arguments: [
        (1, "1 byte"), (999, "999 bytes"), (1_000, "1.0 kB"), (14_204_332, "14.2 MB"), (999_999_999, "1.0 GB"),
    ])
    func sizes(_ bytes: Int, _ expected: String) {
        #expect(Figures.size(bytes) == expected)
    }
}
