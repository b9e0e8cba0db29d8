import Diagnostics
import Results
import Pipeline
import PlanRules
import Testing

/// Rules that a workflow declares for tools whose format is unknown.
@Suite struct FindingRuleTests {
    private func scan(_ rule: FindingRule, _ text: String) -> [Finding] {
        var scanner = DiagnosticScanner(rules: [rule])
        scanner.hasForms = false
        return scanner.findings(in: Array(text.utf8))
    }

    @Test func `a rule matches one line`() throws {
        let rule = FindingRule("ruff", "{file}:{line}:{column}: {rule} {message}", severity: "warning")
        let found = scan(rule, "All checks\nsrc/a b.py:3:10:   E501 Line too long (120 > 100)\nfoo\n")
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.file == "src/a b.py" && finding.line == 3 && finding.column == 10)
        #expect(finding.rule == "E501" && finding.message == "Line too long (120 > 100)")
        #expect(finding.severity == .warning)
    }

    @Test func `the last template matches several lines`() {
        let rule = FindingRule("eslint", "{file}.js", "  {line}:{column}  {severity}  {message}")
        let found = scan(
            rule, "src/a.js\n  1:2  error  first\n  3:4  warning  second\n\nsrc/b.js\n  5:6  error  third\n")
        #expect(found.map(\.message) == ["first", "second", "third"])
        #expect(found.map(\.file) == ["src/a", "src/a", "src/b"])
        #expect(found.map(\.severity) == [.error, .warning, .error])
    }

    @Test func `{*} matches any text`() {
        let found = scan(
            FindingRule("x", "{*}[{severity}] {file}({line}): {message}"), "12:00 job [W] a.c(7): text: more")
        #expect(found.map(\.line) == [7])
        #expect(found.map(\.message) == ["text: more"])
        #expect(found.map(\.severity) == [.warning])
    }

    @Test(.timeLimit(.minutes(1)))
    func `no line is slow to match`() {
        let rule = FindingRule("x", "{*} {file} {*} {rule} {*} {message} end{line}")
        let line = String(repeating: "a ", count: 500) + "\n"
        #expect(scan(rule, String(repeating: line, count: 2_000)).isEmpty)
    }

    @Test(
        arguments: [
            (FindingRule("", "{message}"), "no name"), (FindingRule("x", "nothing"), "neither {message} nor {rule}"),
            (FindingRule("x", "{file}{line}{message}"), "without anything between"),
            (FindingRule("x", "{message}", severity: "bad"), "severity \"bad\""),
        ])
    func `rules that can't match are refused`(rule: FindingRule, words: String) {
        let plan = Plan(workflow: "w", steps: [step(rule)])
        #expect(plan.validate().contains { $0.description.contains(words) })
        #expect(Plan(workflow: "w", steps: [step(FindingRule("x", "{file}:{line}: {message}"))]).validate().isEmpty)
    }

    private func step(_ rule: FindingRule) -> PlannedStep {
        var step = PlannedStep(name: "s", action: .shell("true"))
        step.findings = [.matching(rule)]
        return step
    }
}
