@testable import ProofKeys
import Pipeline
import Testing

/// The files that a step's key contains.
struct FilesInKeyTests {
    private static func step(
        _ name: String, _ inputs: [String], needs: [String] = [], only: Bool = false,
        action: PlannedStep.Action = .shell("x")
    ) -> PlannedStep {
        var step = PlannedStep(name: name, action: action)
        (step.inputs, step.needs, step.inputsCoverNeeds) = (inputs, needs, only)
        return step
    }

    @Test func `a key covers the files of needed steps unless the step's own inputs do`() {
        let plan = Plan(
            workflow: "w",
            steps: [
                Self.step("build", ["src"]), Self.step("gate", [], needs: ["build"], action: .approval),
                Self.step("unit", ["tests"], needs: ["gate"]),
                Self.step("one", ["tests/one"], needs: ["build"], only: true),
                Self.step("after", ["docs"], needs: ["one"]), Self.step("all", []),
                Self.step("late", ["x"], needs: ["all"]),
            ])
        #expect(plan.filesInKey(of: "build") == ["src"])
        #expect(plan.filesInKey(of: "unit") == ["src", "tests"])
        #expect(plan.filesInKey(of: "one") == ["tests/one"])
        #expect(plan.filesInKey(of: "after") == ["docs", "src", "tests/one"])
        #expect(plan.filesInKey(of: "all") == nil)
        #expect(plan.filesInKey(of: "late") == nil)
    }
}
