import Foundation
@testable import Pipeline
import Results
@testable import Tasks
import TestBasics
import Testing

struct RuleCheckTests {
    private let rule = Rule(
        "no networking in views", forbids: "URLSession|import Network", in: "Views/**", except: ["Views/Debug/**"],
        says: "AGENTS.md")

    private func findings(_ rules: [Rule], _ lines: (String, Int, String)..., says: String? = nil) -> [Finding] {
        RuleCheck(rules, says: { _ in says }).findings(in: lines.map { AddedLine(file: $0.0, line: $0.1, text: $0.2) })
    }

    @Test func `a line that breaks a rule is a finding that cites it`() throws {
        let found = findings(
            [rule], ("Views/A.swift", 12, "let s = URLSession.shared"), ("Views/A.swift", 13, "let s = 1"),
            ("Model/A.swift", 1, "URLSession"), ("Views/Debug/A.swift", 1, "URLSession"),
            says: "# Rules\n\n- **No networking** in  views: it\n")
        let one = try #require(found.first)
        #expect(found.count == 1)
        #expect(
            (one.rule, one.severity.rawValue, one.file, one.line) == (RuleCheck.broken, "error", "Views/A.swift", 12))
        #expect(one.message.contains("no networking in views") && one.message.contains("AGENTS.md:3"))
        #expect(one.suggestion?.contains("in  views: it") == true)
        #expect(one.excerpt == "let s = URLSession.shared")
    }

    @Test func `a rule without a place is for all files`() {
        #expect(findings([Rule("no force", forbids: "try!")], ("any", 1, "try! x()")).count == 1)
    }

    @Test func `a rule that can't be used is told`() {
        let found = findings([Rule("x", forbids: "("), Rule("no a", forbids: "a")], ("f", 1, "a"))
        #expect(found.map(\.rule) == [RuleCheck.unchecked, RuleCheck.broken])
    }

    @Test func `many findings are counted`() {
        let lines = (1...500).map { AddedLine(file: "f", line: $0, text: "a") }
        let found = RuleCheck([Rule("no a", forbids: "a")], says: { _ in nil }).findings(in: lines)
        #expect(found.count == 11)
        #expect(found.last?.message.contains("490") == true)
    }

    @Test func `too much to check is no pass`() {
        let lines = (1...1_000).map { AddedLine(file: "f", line: $0, text: String(repeating: "ab", count: 50)) }
        let found = RuleCheck([Rule("no c", forbids: "(a|b)*c")], says: { _ in nil }).findings(in: lines, work: 10_000)
        #expect(found.map(\.rule) == [RuleCheck.unchecked])
    }

    @Test func `a file that moves to where a rule holds counts as new`() {
        let check = RuleCheck([rule], says: { _ in nil })
        #expect(check.isStricter(for: "Views/A.swift", than: "Model/A.swift"))
        #expect(check.isStricter(for: "Views/A.swift", than: "Views/Debug/A.swift"))
        #expect(!check.isStricter(for: "Views/A.swift", than: "Views/B.swift"))
        #expect(check.reads("Views/A.swift") && !check.reads("README.md"))
    }

    @Test(arguments: [
        Rule("", forbids: "a"), Rule("a\nb", forbids: "a"), Rule("a", forbids: "("), Rule("a", forbids: "x*"),
        Rule("a", forbids: "a", in: "["), Rule("a", forbids: "a", except: ["../x"]),
        Rule("a", forbids: "a", says: "/etc/x"),
        Rule("a", forbids: "a", says: "../x"), Rule("a", forbids: "a", says: ""),
    ])
    func `each mistake is named`(_ rule: Rule) {
        #expect(rule.problems.count == 1)
    }
}

/// A correction becomes a line of the instructions, in the person's own words.
struct RuleProposalTests {
    @Test(arguments: [
        nil, "", "# Shop\n", "# Shop\n\nText without an end", "# Shop\n\n## Rules\n\n- one\n- two\n\n## Other\n\n- x\n",
        "## rules ##\n- one", "## Rules", "## Rules\n", "# A\n\n```\n## Rules\n```\n",
        "## Rules\n\n- one\n\n### Swift\n\n- two\n",
        "# A\r\n\r\n## Rules\r\n\r\n- one\r\n", "a\nb\nc\nd\ne\nf\n## Rules\ng\nh\ni\nj\nk\nl",
    ])
    func `the patch applies, and proposes nothing again`(_ content: String?) async throws {
        let folder = try TemporaryFolder()
        let repository = try await TestRepository.make(at: folder["r"])
        if let content { try repository.write(["AGENTS.md": content]) }
        let corrections = [
            RuleProposal.Correction.remark("Use a guard, not an if, in loops."),
            .remark("Name tests in whole sentences."),
        ]
        let proposal = try #require(RuleProposal.make(from: corrections, in: content))
        #expect(proposal.rules.count == 2)
        try await repository.git(["apply", "-"], input: proposal.patch)
        let after = try String(contentsOfFile: folder["r/AGENTS.md"], encoding: .utf8)
        #expect(after.contains("- Use a guard, not an if, in loops."))
        if content?.contains("- two") == true, content?.contains("## Other") == true {
            #expect(after.contains("- two\n- Use"))
        }
        for line in (content ?? "").split(whereSeparator: \.isNewline) { #expect(after.contains(line)) }
        #expect(RuleProposal.make(from: corrections, in: after) == nil)
        withExtendedLifetime(folder) {}
    }

    @Test func `words that are no rule propose nothing`() {
        let none: [RuleProposal.Correction] = [
            .remark(""), .remark("ok"), .remark("Why is this a class?"), .remark("Looks good to me, land it."),
            .remark("LGTM, thanks a lot"), .remark("> quoted words of others"), .remark("/pipectl approve plan"),
            .commit(message: "Merge branch 'main' into x"), .commit(message: "Revert \"something else\""),
        ]
        #expect(RuleProposal.make(from: none, in: nil) == nil)
    }

    @Test func `hostile words stay one line`() throws {
        let proposal = try #require(
            RuleProposal.make(
                from: [.remark("Never do\u{1B}[2J this\n+# Injected heading here\u{202E}\r\n\nnext paragraph")],
                in: "# A\n"))
        #expect(proposal.rules == ["Never do [2J this +# Injected heading here"])
        #expect(proposal.patch.split(separator: "\n").filter { $0.hasPrefix("+") && !$0.hasPrefix("+++") }.count == 4)
    }

    @Test(arguments: [
        ("Don't use `URLSession` in `Views/`.", "\\bURLSession\\b", "**/Views/**"),
        ("never call `try!` in `Sources/App/`, please", "\\btry!", "Sources/App/**"),
        ("No `print(` in `Sources/App/Main.swift`", "\\bprint\\(", "Sources/App/Main.swift"),
        ("Avoid `DispatchQueue.main` anywhere in `*.swift` files", "\\bDispatchQueue\\.main\\b", "**/*.swift"),
    ])
    func `forbidden code becomes a rule that is checked`(_ words: String, _ pattern: String, _ glob: String) throws {
        let proposal = try #require(RuleProposal.make(from: [.remark(words)], in: nil))
        let line = try #require(proposal.declarations.first)
        let quoted = pattern.replacing("\\", with: "\\\\")
        #expect(line == "Rule(\"\(proposal.rules[0])\", forbids: \"\(quoted)\", in: \"\(glob)\", says: \"AGENTS.md\")")
        #expect(Rule(proposal.rules[0], forbids: pattern, in: glob, says: "AGENTS.md").problems.isEmpty)
    }

    @Test(arguments: [
        "Use `URLSession` in `Net/`.", "Don't use `URLSession`.", "Don't use `a` or `b`", "Don't use `a` in `/etc/`",
        "Don't use `a` in `../x/`", "Don't use `a in `b/`",
    ])
    func `other words stay words`(_ words: String) {
        let proposal = RuleProposal.make(from: [.remark(words + " and more")], in: nil)
        #expect(proposal?.declarations == [])
    }

    @Test func `a comment names the folder that it is about`() throws {
        let proposal = try #require(
            RuleProposal.make(from: [.comment("Keep the view free of state.", file: "Views/Cart/A.swift")], in: nil))
        #expect(proposal.rules == ["Keep the view free of state. (in Views/Cart/)"])
    }

    @Test func `the history of a task has the corrections`() {
        let plan = TaskPlan(version: 1, summary: "S", approach: "A", files: ["a"], tests: [], tradeoffs: "")
        let what: [TaskEvent.What] = [
            .created, .remark(text: "it is about carts"), .planned(plan: plan, run: 1), .remark(text: "one"),
            .planRefused(version: 1, reason: "two"), .planRefused(version: 1, reason: nil), .landingAsked,
        ]
        let events = what.enumerated().map {
            TaskEvent(task: 1, number: $0.offset + 1, at: Date(timeIntervalSince1970: 0), what: $0.element)
        }
        #expect(RuleProposal.corrections(in: events) == [.remark("one"), .remark("two")])
    }

    @Test func `a rule that is checked already is not proposed`() {
        let known = Rule("no networking in views", forbids: "x")
        #expect(RuleProposal.make(from: [.remark("No networking in views!")], in: nil, known: [known]) == nil)
    }
}
