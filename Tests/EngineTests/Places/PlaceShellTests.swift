import Pipeline
import Sandbox
import SystemPackage
import TestSupport
import Testing

@testable import Engine

/// A person's command in a workspace sees what the step saw.
@Suite(.runFolder) struct PlaceShellTests {
    @Test func `a shell has the variables of its step`() throws {
        var step = PlannedStep.shell("check", "true")
        step.environment = ["WORD": "own", "COMMON": "changed"]
        let opened = try RunFolder.current.localPlace().shell(
            for: step, of: Plan(workflow: "w", steps: [step]), environment: ["COMMON": "of all", "RUN": "1"],
            command: ["env"])
        #expect(opened.environment["PIPECTL_STEP"] == "check")
        #expect(opened.environment[StepVariable.attempt] == "1")
        #expect(opened.environment["WORD"] == "own" && opened.environment["COMMON"] == "changed")
        #expect(opened.environment["RUN"] == "1")
        #expect(opened.environment[StepVariable.workspace] == RunFolder.current.workspace)
        #expect(opened.environment[StepVariable.valuesOut] == nil)
    }
}
