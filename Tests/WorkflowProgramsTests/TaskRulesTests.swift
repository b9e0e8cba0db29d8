import Pipeline
import PlanRules
import Testing

@testable import WorkflowPrograms

/// What is wrong with tasks and rules is found before an agent begins.
@Suite struct TaskRulesTests {
    private static let test = Workflow("test", on: .pullRequest(into: "main")) { Step("a", run: "true") }
    private static let nightly = Workflow("nightly", on: .schedule("0 3 * * *", on: "main")) { Step("a", run: "true") }
    private static let release = Workflow("release", on: .merge(into: "main")) { Step("a", run: "true") }
    private static let asks = Workflow("asks", on: .manual, parameters: [Parameter<Int>("count")]) {
        Step("a", run: "true")
    }
    private static let unlisted = Workflow("unlisted", on: .manual) { Step("a", run: "true") }
    private static let tasks = Tasks(by: .claude, mustPass: [test])
    private static let testFlight = TestFlight(app: "com.example.app", key: "API_KEY", keyID: "ABC")

    private func findings(_ tasks: Tasks? = nil, _ rules: [Rule] = []) -> [String] {
        ProgramDescription(
            workflows: [Self.test, Self.nightly, Self.release, Self.asks].map(\.declaration),
            tasks: tasks?.tasksDeclaration, rules: rules.isEmpty ? nil : rules
        ).validate().map { "\($0.rule) \($0.workflow)" }
    }

    @Test(arguments: [
        (Tasks(into: "release/*", by: .claude, mustPass: [test]), "tasks "),
        (Tasks(by: AgentCommand("a\u{7}", plan: "p", work: "w"), mustPass: [test]), "tasks "),
        (Tasks(by: .claude, mustPass: [unlisted]), "tasks unlisted"),
        (Tasks(by: .claude, mustPass: [release]), "tasks release"),
        (Tasks(by: .claude, mustPass: [asks]), "tasks asks"),
        (Tasks(by: .claude, mustPass: [test, test]), "tasks test"),
        (Tasks(by: .claude, mustPass: []), "tasks "),
        (tasks.reviewed(by: .aider), "tasks "),
        (tasks.budget(attempts: 0), "tasks "),
        (tasks.budget(within: .seconds(90_000)), "tasks "),
        (tasks.budget(cost: 0), "tasks "),
        (tasks.budget(tokens: -1), "tasks "),
        (tasks.skipsApproval(upTo: 0, in: "docs/**"), "tasks "),
        (tasks.skipsApproval(upTo: 1), "tasks "),
        (tasks.skipsApproval(upTo: 1, in: "["), "tasks "),
        (tasks.reaches("https://api.example.com"), "tasks "),
        (tasks.reaches("api.example.com:0"), "tasks "),
        (tasks.reaches("127.0.0.1"), "tasks "),
        (tasks.reaches("localhost"), "tasks "),
        (tasks.reaches("*.example.com"), "tasks "),
        (tasks.secrets("lower"), "tasks "),
        (tasks.secrets("KEY", "KEY"), "tasks "),
        (tasks.begins(on: .issueLabel(" ")), "tasks "),
        (tasks.begins(on: .scheduledRun("gone")), "tasks "),
        (tasks.begins(on: .testFlight(TestFlight(app: "", key: "API_KEY", keyID: "ABC"))), "tasks "),
        (tasks.begins(on: .testFlight(TestFlight(app: "com.example.app", key: "api", keyID: "ABC"))), "tasks "),
        (tasks.begins(on: .scheduledRun("test")), "tasks "),
        (tasks.tells(by: " "), "tasks "),
    ])
    func `each mistake of tasks is one finding`(_ tasks: Tasks, _ finding: String) {
        #expect(findings(tasks) == [finding])
    }

    @Test func `sensible tasks and rules have none`() {
        let tasks = Tasks(by: .claude, .codex, mustPass: [Self.test]).reviewed(by: .gemini)
            .skipsApproval(upTo: 2, in: "docs/**").budget(attempts: 3, within: .minutes(20), cost: 5, tokens: 100_000)
            .reaches("api.example.com", "a-b.example.org").secrets("KEY").tells(by: "script/tell")
            .begins(
                on: .issueLabel("agent"), .scheduledRun("nightly"), .testFlight(Self.testFlight),
                .crashEndpoint, .redTarget)
        #expect(findings(tasks, [Rule("no force", forbids: "try!", in: "Sources/**", says: "AGENTS.md")]).isEmpty)
        #expect(findings().isEmpty)
    }

    @Test func `each mistake of a rule is one finding`() {
        #expect(findings(nil, [Rule("a", forbids: "(")]) == ["rule "])
        #expect(findings(nil, [Rule("a", forbids: "x", in: "[")]) == ["rule "])
        #expect(findings(nil, [Rule("a", forbids: "x"), Rule("a", forbids: "y")]) == ["rule "])
        #expect(findings(nil, (0...200).map { Rule("rule \($0)", forbids: "x") }) == ["rule "])
    }
}
