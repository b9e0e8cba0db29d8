import Foundation
import Pipeline
import PlanRules
import Testing

/// Approvals in the workflow language.
@Suite struct ApprovalTests {
    @Test func `an approval step can be needed like any other step`() throws {
        let workflow = Workflow("release", on: .merge(into: "main")) {
            let pack = Step("pack", run: "make")
            let gate = Step.approval("ship it", needs: pack)
            pack
            gate
            Step.approval("again", needs: [pack, gate]).timeout(.hours(2))
        }
        let plan = workflow.plan(
            for: PlanContext(repository: "r", event: .merge, commit: "c", ref: "refs/heads/main"))
        #expect(plan.steps.map(\.action) == [.shell("make"), .approval, .approval])
        #expect(plan.steps.map(\.needs) == [[], ["pack"], ["pack", "ship it"]])
        #expect(plan.steps.map(\.timeout) == [3_600, 7 * 86_400, 7_200])
        #expect(plan.validate().isEmpty)
        #expect(try JSONDecoder().decode(Plan.self, from: JSONEncoder().encode(plan)) == plan)
    }

    @Test(arguments: [
        Step.approval("a").retries(1), Step.approval("a").artifacts("x"), Step.approval("a").secrets("X"),
        Step.approval("a").network(.allowed), Step.approval("a").always(), Step.approval("a").onFailure(),
        Step.approval("a").uses(Resource("r", capacity: 1)), Step.approval("a").allowFailure(),
    ])
    func `an approval step refuses the modifiers of commands`(step: Step) {
        let plan = Plan(workflow: "w", steps: [step.planned])
        #expect(plan.validate().map(\.rule) == ["approval"])
    }

    @Test func `approval rules are part of the declaration`() throws {
        let plain = Workflow("a", on: .manual) { Step("x", run: "true") }
        #expect(plain.declaration.approval == nil)
        #expect(plain.needsApproval().declaration.approval == ApprovalRule(isAlways: true))
        let paths = plain.needsApproval(ifChanged: "Package.swift", "workflows/**").needsApproval(ifChanged: "x")
        #expect(paths.declaration.approval == ApprovalRule(paths: ["Package.swift", "workflows/**", "x"]))
        let data = try JSONEncoder().encode(paths.declaration)
        #expect(try JSONDecoder().decode(WorkflowDeclaration.self, from: data) == paths.declaration)
        let bad = plain.needsApproval(ifChanged: "/etc/*")
        #expect(WorkflowDeclaration.validate([bad.declaration]).map(\.rule) == ["glob"])
    }
}
