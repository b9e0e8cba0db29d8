import Pipeline
import Testing

@testable import PlanRules

/// Which steps may leave the machine of their run.
@Suite struct StepMovesTests {
    private func plan(_ steps: PlannedStep...) -> Plan { Plan(workflow: "test", steps: steps) }

    private func moving(_ plan: Plan) -> [String] {
        let moves = StepMoves(plan)
        return plan.steps.filter(moves.mayMove).map(\.name)
    }

    private static let mac = MachineNeeds(traits: [.macOS])
    private static let linux = MachineNeeds(traits: [.linux])

    @Test func `a step may move if all that it needs, and it itself, say what they leave`() {
        #expect(moving(plan(.shell("a", "true"), .shell("b", "true"))) == ["a", "b"])
        #expect(moving(plan(.shell("a", "true"), .shell("b", "true", needs: ["a"]))) == [])
        let declared = PlannedStep.shell("a", "true") { $0.outputs = ["out/**"] }
        #expect(moving(plan(declared, .shell("b", "true", needs: ["a"]))) == ["a", "b"])
        let silent = PlannedStep.shell("a", "true") { $0.leavesNothing = true }
        #expect(moving(plan(silent, .shell("b", "true", needs: ["a"]))) == ["a", "b"])
    }

    @Test func `what is needed indirectly counts, also through a step without a process`() {
        let question = PlannedStep(name: "ask", action: .approval, needs: ["a"])
        let last = PlannedStep.shell("b", "true", needs: ["ask"])
        #expect(moving(plan(.shell("a", "true"), question, last)) == [])
        let middle = PlannedStep.shell("m", "true", needs: ["a"]) { $0.outputs = ["m"] }
        #expect(moving(plan(.shell("a", "true"), middle, .shell("b", "true", needs: ["m"]))) == [])
        // The order of the list does not matter.
        #expect(moving(plan(.shell("b", "true", needs: ["m"]), middle, .shell("a", "true"))) == [])
    }

    @Test func `closures, reviews and steps after failures stay`() {
        #expect(moving(plan(PlannedStep(name: "c", action: .closure))) == [])
        for condition in [PlannedStep.Condition.always, .onFailure] {
            #expect(moving(plan(.shell("a", "true") { $0.condition = condition })) == [])
        }
    }

    @Test func `the machine of the run has what the steps need that stay`() {
        let here: (MachineNeeds) -> Bool = { $0 == MachineNeeds() || $0 == Self.linux }
        func needs(_ plan: Plan) -> MachineNeeds { StepMoves(plan).needs(of: plan, fitsHere: here) }
        let mac = PlannedStep.shell("m", "true") { $0.machine = Self.mac }
        let linux = PlannedStep.shell("l", "true") { $0.machine = Self.linux }
        #expect(needs(plan(mac, linux)) == Self.linux)
        #expect(needs(plan(mac)) == Self.mac)
        let bound = PlannedStep.shell("b", "true", needs: ["m"])
        #expect(needs(plan(mac, linux, bound)) == Self.mac)
    }

    @Test func `a plan whose bound steps contradict each other is refused`() {
        let mac = PlannedStep.shell("m", "true") { $0.machine = Self.mac }
        let linux = PlannedStep.shell("l", "true", needs: ["m"]) { $0.machine = Self.linux }
        #expect(plan(mac, linux).validate().map(\.rule) == ["machine"])
        let declared = PlannedStep.shell("m", "true") { ($0.machine, $0.outputs) = (Self.mac, ["out/**"]) }
        #expect(plan(declared, linux).validate().isEmpty)
    }

    @Test(.timeLimit(.minutes(1))) func `a chain of thousands of steps is judged at once`() {
        var steps = (0..<5_000).map { number in
            PlannedStep.shell("\(number)", "true", needs: number == 0 ? [] : ["\(number - 1)"]) { $0.outputs = ["o"] }
        }
        #expect(moving(Plan(workflow: "test", steps: steps)).count == 5_000)
        steps[0].outputs = []
        #expect(moving(Plan(workflow: "test", steps: steps.reversed())).isEmpty)
    }
}
