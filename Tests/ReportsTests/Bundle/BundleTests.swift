@testable import Reports
@testable import Results
import Foundation
import Pipeline
import Testing

@Suite struct BundleTests {
    /// A run with `count` failing tests, a step that failed without a failing test, and a change of five files.
    private func draft(_ count: Int, text: String = "unit") -> BundleDraft {
        var report = Fixture.report(text: text)
        (report.conflicts, report.findings) = ([], [])
        report.reproduce = "pipectl run test --change 7"
        report.steps = [
            Fixture.step("unit", from: 0, to: 9, .failed, log: "1.log"),
            Fixture.step("lint", from: 0, to: 1, .failed, log: "2.log"), Fixture.step("build", from: 0, to: 3),
        ]
        let tests = (0..<count).map { number in
            TestResult(
                suite: "Suite", name: "case\(number)()", status: .failed,
                message: "Expectation \(number) failed. It was otherwise.\nsecond line of \(number)",
                details: (0..<50).map { "detail \($0) of \(number)\n" }.joined(), file: "Tests/A\(number).swift",
                line: number + 1)
        }
        report.steps[0].tests = TestSpan(first: 0, count: count)
        report.testCounts = TestCounts(passed: 41, failed: count)
        report.comparison = Comparison(
            against: 3, commit: "f387829c0b", alsoFailing: tests.count > 2 ? ["Suite/case0()"] : [],
            newlyFailing: tests.dropFirst().map(\.id), vanished: ["Suite/gone()"])
        var evidence = BundleEvidence()
        evidence.hunks = (0..<5).map {
            .init(file: "Tests/A\($0).swift", line: 1, lines: 3, text: " a\n-b\($0)\n+c\($0)")
        }
        evidence.flaky = ["Suite/case1()": "failed and passed on one tree in 3 of its last 50 runs"]
        let document = ReportDocument(report: report, tests: tests) { file in
            ReportLog(bytes: Array((0..<500).map { "\(file) line \($0)\n" }.joined().utf8))
        }
        return BundleDraft(document, evidence)
    }

    @Test(arguments: [3 << 10, 4_000, 8_000, 16 << 10, 64 << 10], [0, 1, 7, 300])
    func `a bundle is never longer than its limit`(bytes: Int, count: Int) throws {
        for text in ["unit", Fixture.hostile, String(repeating: "\"\\é", count: 3_000)] {
            let draft = draft(count, text: text)
            for format in BundleFormat.allCases {
                let document = draft.render(bytes: bytes, as: format)
                #expect(document.utf8.count <= bytes, "\(format)")
                guard format == .json else { continue }
                let bundle = try JSONDecoder().decode(RunBundle.self, from: Data(document.utf8))
                #expect(bundle.problems.count >= 1 || count == 0 && bytes < 4_000)
                let isWhole = bundle.problems.count == draft.items.count && bundle.leftOut.isEmpty
                #expect(isWhole || !bundle.leftOut.isEmpty, "what is missing is said")
            }
        }
    }

    @Test func `the most important problems are dropped last`() throws {
        let small = draft(300).fit(bytes: 4_000, as: .json)
        #expect(small.problems.allSatisfy { $0.kind == .test && $0.standing == .newHere })
        #expect(small.problems.first?.name == "Suite/case2()", "the flaky one comes after those that are new")
        #expect(small.leftOut.contains { $0.what.hasSuffix("failing tests") && $0.command.contains("report 18") })
        let large = draft(4).fit(bytes: 64 << 10, as: .json)
        let kinds = large.problems.map { "\($0.kind.rawValue) \($0.standing.rawValue)" }
        #expect(kinds.prefix(3) == ["test newHere", "test newHere", "test knownFlaky"])
        #expect(kinds.contains("test alsoOnTarget") && kinds.contains("removedTest newHere"))
        let first = try #require(large.problems.first)
        #expect(first.file == "Tests/A2.swift" && first.line == 3 && first.step == "unit")
        #expect(first.hunks?.first?.file == "Tests/A2.swift")
        #expect(first.reproduce == "pipectl run test --change 7 --step unit")
        #expect(first.excerpt?.hasPrefix("detail 0 of 2\ndetail 1 of 2") == true)
        #expect(large.passed == "41 tests; step build")
        #expect(large.exitCode == 1 && large.comparison?.removed == 1)
    }

    @Test func `a test of a run with chosen steps is repeated in its own step, and no other step is`() {
        var report = Fixture.report(text: "unit")
        (report.conflicts, report.findings) = ([], [])
        report.reproduce = "pipectl run release --ref abc --step pack"
        report.steps = [
            Fixture.step("unit", from: 0, to: 9, .failed, log: "1.log"),
            Fixture.step("out", from: 0, to: 1, .failed, log: "2.log"),
        ]
        report.steps[0].tests = TestSpan(first: 0, count: 1)
        let tests = [TestResult(suite: "S", name: "a", status: .failed, message: "no")]
        func problems() -> [RunBundle.Problem] {
            BundleDraft(ReportDocument(report: report, tests: tests)).fit(bytes: 64 << 10, as: .json).problems
        }
        #expect(
            Set(problems().compactMap(\.reproduce)) == ["pipectl run release --ref abc --step unit"])
        report.reproduce = "pipectl rerun 18"
        #expect(problems().allSatisfy { $0.reproduce == nil })
    }

    @Test func `secrets that are not set are the next command`() {
        var report = Fixture.report(.infrastructure, text: "unit")
        report.steps = []
        report.reason =
            "step \"version\" can't run: secret KEY is not set: `pipectl secrets set KEY`; step \"apt\" can't run: secret "
            + "APT is not set: `pipectl secrets set APT`; step \"b\" can't run: secret KEY is not set: `pipectl secrets set KEY`"
        let facts = ReportFacts(ReportDocument(report: report))
        #expect(facts.nextCommand == "pipectl secrets set KEY && pipectl secrets set APT && pipectl rerun 18")
        report.reason = "no disk"
        #expect(ReportFacts(ReportDocument(report: report)).nextCommand == "pipectl doctor")
    }

    /// The failures of a whole suite must not take the space that is needed to understand the first of them.
    @Test(arguments: BundleFormat.allCases) func `the first problems have the nearest part of the change`(
        format: BundleFormat
    ) {
        let bundle = draft(150).fit(as: format)
        #expect(bundle.problems.count > 20)
        for problem in bundle.problems.prefix(3) where problem.standing == .newHere {
            #expect(problem.message?.contains("second line") == true)
            #expect(problem.excerpt?.hasPrefix("detail 0") == true)
        }
        #expect(bundle.problems.first?.hunks?.first?.file == "Tests/A2.swift")
    }

    @Test func `tests with the same failure are one problem`() throws {
        func failed(_ name: String, _ message: String = "ValueError: out of range", line: Int? = 43) -> TestResult {
            TestResult(
                suite: "S", name: name, status: .failed, message: message, file: line == nil ? nil : "src/timed.py",
                line: line)
        }
        let tests =
            (0..<100).map { failed("t\($0)") }
            + [
                failed("line", line: 44), failed("message", "KeyError: a"), failed("p1", line: nil),
                failed("p2", line: nil),
            ]
        var report = Fixture.report(text: "unit")
        (report.conflicts, report.findings, report.comparison) = ([], [], nil)
        report.steps = [Fixture.step("unit", from: 0, to: 9, .failed)]
        report.steps[0].tests = TestSpan(first: 0, count: tests.count)
        var evidence = BundleEvidence()
        evidence.flaky = ["S/t7": "failed and passed on one tree in 3 of its last 50 runs"]
        let bundle = BundleDraft(ReportDocument(report: report, tests: tests), evidence).fit(as: .markdown)
        let shown = bundle.problems.filter { $0.kind == .test }
        #expect(shown.map(\.name) == ["S/t0", "S/line", "S/message", "S/p1", "S/p2", "S/t7"])
        let alike = try #require(shown.first?.alike)
        #expect(alike.count == 98 && alike.names.first == "S/t1" && !alike.names.contains("S/t7"))
        #expect(shown.dropFirst().allSatisfy { $0.alike == nil })
        let text = BundleText.render(bundle, as: .markdown)
        #expect(text.contains("98 further tests") && text.utf8.count <= BundleDraft.defaultBytes)
    }

    @Test func `texts are cut after a line`() {
        for bytes in stride(from: 3_100, to: 14_000, by: 700) {
            for problem in draft(12).fit(bytes: bytes, as: .markdown).problems {
                for text in [problem.message, problem.excerpt].compactMap({ $0 }) {
                    for line in text.split(separator: "\n") where !line.hasPrefix("…") {
                        let isWhole =
                            line.wholeMatch(of: /detail \d+ of \d+|second line of \d+|.*otherwise\.|.*\.log line \d+/)
                            != nil
                            || ["lint", "unit", "build"].contains(line) || line.hasPrefix("command: ")
                            || line.hasPrefix("It ran in run 3") || line.hasPrefix("unit")
                        #expect(isWhole, "\(line)")
                    }
                }
            }
        }
    }

    @Test(
        arguments: [
            ("one. two three four five", 22, nil),
            ("First sentence ends. Then another one that is long", 46, "First sentence ends."),
            ("short", 10, "short"),
        ] as [(String, Int, String?)])
    func `a line is cut after a sentence or a word`(line: String, bytes: Int, expected: String?) {
        let part = WholeText.part(of: line, bytes: bytes)
        #expect((part?.utf8.count ?? 0) <= bytes)
        if let expected { #expect(part?.hasPrefix(expected) == true, "\(part ?? "-")") }
        if let part, part != line {
            let kept = part.prefix { $0 != "[" }.dropLast()
            #expect(line.hasPrefix(kept) && line.dropFirst(kept.count).first == " ", "\(part)")
        }
    }

    @Test func `the bundle follows its schema`() throws {
        let schema = try JSONSerialization.jsonObject(with: Data(BundleSchema.text.utf8))
        let top = try #require(schema as? [String: Any])
        let bundle = try JSONSerialization.jsonObject(with: Data(draft(3).render(bytes: 32_000, as: .json).utf8))
        #expect(SchemaCheck(root: top).problems(bundle, top) == [])
        var alike = draft(1).fit(as: .json)
        alike.problems[0].alike = .init(count: 3, names: ["a"])
        let whole = try JSONSerialization.jsonObject(with: JSONEncoder().encode(alike))
        #expect(SchemaCheck(root: top).problems(whole, top) == [])
        var broken = try #require(bundle as? [String: Any])
        broken["verdict"] = "maybe"
        broken["run"] = "18"
        broken["problems"] = [["kind": "test"]]
        #expect(SchemaCheck(root: top).problems(broken, top).count == 5)
        let docs = URL(filePath: #filePath).pathComponents.dropLast(4).dropFirst().joined(separator: "/")
        #expect(try String(contentsOfFile: "/\(docs)/docs/bundle.schema.json", encoding: .utf8) == BundleSchema.text)
    }

    @Test func `a code fence is longer than any fence in it`() {
        var problem = RunBundle.Problem(kind: .test, standing: .unknown, name: "a`b\u{1B}[2J")
        problem.message = "```\n# not a heading\n````"
        let text = BundleMarkdown.text(of: problem, number: 1)
        #expect(text.contains("`````text\n```\n# not a heading\n````\n`````"))
        #expect(!text.contains("\u{1B}"))
    }
}

/// The part of JSON Schema that the bundle's schema uses.
private struct SchemaCheck {
    let root: [String: Any]

    func problems(_ value: Any, _ schema: [String: Any], _ path: String = "$") -> [String] {
        var schema = schema
        if let reference = schema["$ref"] as? String, let name = reference.split(separator: "/").last {
            schema = (root["$defs"] as? [String: [String: Any]])?[String(name)] ?? [:]
        }
        var found: [String] = []
        switch schema["type"] as? String {
        case "object":
            guard let object = value as? [String: Any] else { return ["\(path) is no object"] }
            for key in schema["required"] as? [String] ?? [] where object[key] == nil { found.append("\(path).\(key)") }
            let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
            for (key, inner) in object {
                guard let own = properties[key] else { found.append("\(path).\(key) is unknown"); continue }
                found += problems(inner, own, "\(path).\(key)")
            }
        case "array":
            guard let array = value as? [Any] else { return ["\(path) is no array"] }
            let own = schema["items"] as? [String: Any] ?? [:]
            for (index, inner) in array.enumerated() { found += problems(inner, own, "\(path)[\(index)]") }
        case "integer": if !(value is Int) { found.append("\(path) is no integer") }
        case "string": if !(value is String) { found.append("\(path) is no string") }
        default:
            if let words = schema["enum"] as? [String], !words.contains(value as? String ?? "") {
                found.append("\(path) is none of the words")
            }
        }
        return found
    }
}
