import Foundation
import Pipeline
import Results
@testable import Tasks
import Testing

/// An agent's answer is text from outside: a plan, or a reason why it is none.
struct PlanAnswerTests {
    private static let object = """
        {"summary": "Guard the total.", "approach": "1. Read.\\n2. Guard.", "files": ["Sources/Cart.swift", "./Tests/A.swift"],
         "tests": ["an empty cart"], "tradeoffs": "none", "mood": {"any": [1, 2]}}
        """

    private func read(_ text: String) throws -> TaskPlan { try PlanAnswer.read(Array(text.utf8), version: 3) }

    private func code(_ text: String) -> PlanProblem.Code? {
        do {
            _ = try read(text)
            return nil
        } catch let problem as PlanProblem {
            return problem.description.isEmpty ? nil : problem.code
        } catch { return nil }
    }

    @Test(arguments: [
        object, "```json\n\(object)\n```", "Here is the plan:\n\n```\n\(object)\n```\nTell me!\n",
        "agent 1.2\nmodel: x {y}\n  \(object)", "{\"note\": \"no plan\"}\n\(object)", "{ not json\n\(object)",
        "\(object)\n\(object)", "\r\n\(object)\r\n",
    ])
    func `one plan is read, whatever stands around it`(_ text: String) throws {
        let plan = try read(text)
        #expect(plan.version == 3)
        #expect(plan.summary == "Guard the total.")
        #expect(plan.approach == "1. Read.\n2. Guard.")
        #expect(plan.files == ["Sources/Cart.swift", "Tests/A.swift"])
        #expect(plan.tests == ["an empty cart"])
    }

    @Test func `a plan may have no tests and no trade-offs`() throws {
        let plan = try read(#"{"summary": "S", "approach": "A", "files": ["a"]}"#)
        #expect(plan.tests.isEmpty && plan.tradeoffs.isEmpty)
    }

    private static func with(_ key: String, _ value: String) -> String {
        var parts = ["summary": "\"S\"", "approach": "\"A\"", "files": "[\"a\"]"]
        parts[key] = value
        return "{" + parts.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ") + "}"
    }

    @Test(arguments: [
        ("", PlanProblem.Code.empty), (" \n", .empty), ("I can't.", .noObject), ("{", .noObject), ("[]", .noObject),
        ("{\"summary\": \"S\"}", .missing), ("{}", .noObject), (with("summary", "1"), .wrongType),
        (with("summary", "null"), .wrongType), (with("files", "\"a\""), .wrongType), (with("files", "[1]"), .wrongType),
        (with("tests", "{}"), .wrongType), (with("files", "[]"), .noFiles),
        (with("files", "[\"/etc/passwd\"]"), .badPath),
        (with("files", "[\"../a\"]"), .badPath), (with("files", "[\"a/../../b\"]"), .badPath),
        (with("files", "[\"~/a\"]"), .badPath), (with("files", "[\"**\"]"), .badPath),
        (with("files", "[\"*/**\"]"), .badPath), (with("files", "[\"**/*.*\"]"), .badPath),
        (with("files", "[\"a\\nb\"]"), .controlCharacters), (with("files", "[\"\"]"), .missing),
        (with("summary", "\" \\n\""), .missing), (with("summary", "\"a\\u0007b\""), .controlCharacters),
        (with("approach", "\"a\\u001b[2Jb\""), .controlCharacters),
        (with("approach", "\"a\\u202eb\""), .controlCharacters),
        (with("summary", "\"\(String(repeating: "a", count: 2_001))\""), .tooLong),
        (with("files", "[\(Array(repeating: "\"a\"", count: 201).joined(separator: ","))]"), .tooMany),
        (with("tests", "[\(Array(repeating: "\"a\"", count: 101).joined(separator: ","))]"), .tooMany),
        (object + "\n" + object.replacing("Guard", with: "Keep"), .several),
        (String(repeating: "a", count: 300_000), .tooLong),
        (String(repeating: "[", count: 100_000), .noObject),
        (with("tests", String(repeating: "[", count: 20_000) + String(repeating: "]", count: 20_000)), .noObject),
        (String(repeating: "{\n", count: 100_000), .noObject),
    ])
    func `anything else is refused with its reason`(_ text: String, _ wanted: PlanProblem.Code) {
        #expect(code(text) == wanted)
    }

    @Test func `bytes that are no text are refused`() {
        let problem = #expect(throws: PlanProblem.self) { try PlanAnswer.read([0x7B, 0xFF, 0x7D], version: 1) }
        #expect(problem?.code == .notText)
    }
}

struct PlanCoverageTests {
    private func plan(_ files: String...) -> TaskPlan {
        TaskPlan(version: 1, summary: "S", approach: "A", files: files, tests: [], tradeoffs: "")
    }

    @Test(arguments: [
        ("Sources/A.swift", "Sources/A.swift", true), ("Sources/A.swift", "Sources/B.swift", false),
        ("Sources/", "Sources/A/B.swift", true), ("Sources", "Sources/A.swift", true),
        ("Sources", "SourcesB/A.swift", false),
        ("Tests/**/*.swift", "Tests/X/A.swift", true), ("Tests/*.swift", "Tests/X/A.swift", false),
        ("app/[id]/page.tsx", "app/[id]/page.tsx", true), ("app/[id]/page.tsx", "app/i/page.tsx", true),
        ("a[", "a[", true), ("a[", "b", false),
    ])
    func `an entry is a path, a folder or a glob`(_ entry: String, _ file: String, _ isPlanned: Bool) {
        #expect(PlanCoverage.unplanned([file], plan: plan(entry)) == (isPlanned ? [] : [file]))
    }

    @Test func `without a plan nothing is outside of it`() {
        #expect(PlanCoverage.unplanned(["a"], plan: nil).isEmpty)
        #expect(PlanCoverage.unplanned(["b", "c", "a"], plan: plan("c")) == ["b", "a"])
    }

    @Test func `a small plan names few files by their paths`() {
        let small = SmallTask(files: 2, globs: ["docs/**"])
        #expect(small.covers(plan("docs/a.md")))
        #expect(small.covers(plan("docs/a.md", "docs/b/c.md")))
        #expect(!small.covers(plan("docs/a.md", "docs/b.md", "docs/c.md")))
        #expect(!small.covers(plan("docs/a.md", "Sources/A.swift")))
        #expect(!small.covers(plan("docs/**")))
        #expect(!small.covers(plan("docs/")))
        #expect(!small.covers(plan()))
    }
}

struct TaskPlanDifferenceTests {
    @Test func `lines that stay, go and come`() {
        let old = TaskPlan(
            version: 1, summary: "S", approach: "one\ntwo\nthree", files: ["a", "b"], tests: [], tradeoffs: "none")
        var new = old
        new.version = 2
        #expect(TaskPlanDifference(from: old, to: new).parts.isEmpty)
        (new.approach, new.files, new.tests) = ("one\nthree\nfour", ["a", "c"], ["t"])
        let difference = TaskPlanDifference(from: old, to: new)
        #expect(difference.parts.map(\.title) == ["Approach", "Files", "Tests"])
        #expect(
            difference.text == """
                Approach
                  one
                - two
                  three
                + four

                Files
                  a
                - b
                + c

                Tests
                + t

                """)
    }
}
