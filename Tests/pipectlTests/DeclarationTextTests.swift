import Client
import Pipeline
import Testing

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

    @Test func `a plan says which steps may run on another machine, if that is asked`() {
        let steps = [
            PlannedStep(name: "build", action: .shell("make"), needs: []),
            PlannedStep(name: "unit", action: .shell("make test"), needs: ["build"]),
            PlannedStep(name: "lint", action: .shell("make lint"), needs: []),
        ]
        let plan = Plan(workflow: "test", failFast: false, steps: steps)
        let lines = PlanText.text(plan, namesMoves: true).split(separator: "\n")
        func line(_ step: String) -> Substring { lines.first { $0.hasPrefix("  \(step)  ") } ?? "" }
        #expect(line("build").contains("stays: it does not say by .outputs(…)"))
        #expect(line("unit").contains("stays: it needs \"build\""))
        #expect(line("lint").contains("may run on another machine"))
        #expect(!PlanText.text(plan).contains("another machine"))
    }
}
