@testable import Pipeline
import Testing

struct TasksDeclarationTests {
    private let agent = AgentCommand("ours", plan: "agent plan", work: "agent edit")

    @Test func aSensibleDeclarationHasNoProblem() {
        #expect(TasksDeclaration(branch: "main", agents: [agent], workflows: ["test"]).problems.isEmpty)
    }

    @Test func eachMistakeIsNamed() {
        var wrong = TasksDeclaration(branch: "", agents: [agent, agent], workflows: [])
        (wrong.attempts, wrong.timeout, wrong.reviewer) = (0, 0, agent)
        #expect(wrong.problems.count == 6)
    }

    @Test func anEmptyLineIsAMistake() {
        let silent = AgentCommand("silent", plan: " ", work: "agent edit")
        #expect(TasksDeclaration(branch: "main", agents: [silent], workflows: ["test"]).problems.count == 1)
    }
}
