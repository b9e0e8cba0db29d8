import Client
import Pipeline
import Testing

@testable import Client

@Suite struct DeclarationTextTests {
    @Test func `what a workflow says beside its steps is shown`() {
        var declaration = WorkflowDeclaration(
            name: "test", triggers: [.pullRequest(into: "main", paths: ["src/**"], ignoring: ["docs/**"])])
        #expect(DeclarationText.lines(declaration).isEmpty)
        #expect(PlanText.line(for: declaration) == "test: pull request into main [only src/**; not docs/**]")
        let messages = WorkflowDeclaration(
            name: "deploy",
            triggers: [.push(to: "main", messages: ["[deploy]", "^ship"], ignoringMessages: ["[skip ci]"]), .manual])
        #expect(
            PlanText.line(for: messages)
                == #"deploy: push to main [only messages with "[deploy]", "^ship"; no messages with "[skip ci]"]; by hand"#
        )
        declaration.integrity = []
        declaration.bisectsWhenRed = true
        #expect(DeclarationText.lines(declaration).map { $0.prefix { $0 != " " } } == ["integrity", "bisects"])
    }
    @Test func `a plan names where results and findings are read`() {
        var step = PlannedStep(name: "test", action: .shell("true"), needs: [])
        step.testResults = [.junit("build/*.xml"), .swiftPMConsole]
        step.findings = [.sarif("lint.sarif"), .output]
        let text = PlanText.text(Plan(workflow: "test", failFast: false, steps: [step]))
        #expect(text.contains("test results build/*.xml, from the output of swift test;"))
        #expect(text.contains("findings lint.sarif, from its output;"))
    }
}
