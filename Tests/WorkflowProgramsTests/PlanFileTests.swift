import TestBasics
import Foundation
import Pipeline
import Testing

@testable import WorkflowPrograms

@Suite struct PlanFileTests {
    @Test func `a cached plan is equal to the original`() throws {
        let room = try TemporaryFolder()
        let folder = room["plans"]
        var plan = Plan(workflow: "w", failFast: true, steps: [])
        for number in 0..<40 {
            var step = PlannedStep(
                name: "s\(number)", action: .shell("echo \(number)"), needs: number > 0 ? ["s\(number - 1)"] : [])
            step.timeout = Double(number % 3)
            step.environment = number % 20 == 7 ? ["N": "\(number)"] : [:]
            if number == 11 { step.action = .command(["a", "b"]) }
            plan.steps.append(step)
        }
        let file = PlanFile(directory: folder, workflow: "w")
        #expect(file.read() == nil)
        file.write(plan)
        #expect(file.read() == plan)
        #expect(PlanFile(directory: folder, workflow: "other").read() == nil)
    }
}
