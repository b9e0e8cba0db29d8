import Foundation
import Pipeline
import Testing

@testable import Engine

/// The order in which a run's steps get the slots.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct RunnerOrderTests {
    @Test func stepsStartInTheirOrderWhereSlotsAreScarce() async {
        let names = ["a", "b", "c", "d", "e"]
        let steps =
            names.map { PlannedStep.shell($0, "echo \($0) >> started") }
            + [.shell("after c", "echo after c >> started", needs: ["c"])]
        var history = StepHistory()
        // What waits for c is what failed before; of the rest, e is the longest.
        history.steps["after c"] = .init(runs: 3, failures: 1, seconds: 1, failedOnChange: true)
        history.steps["e"] = .init(runs: 3, seconds: 50)
        history.steps["d"] = .init(runs: 3, failures: 3, seconds: 9)
        let plan = Plan(workflow: "test", steps: steps)
        var setting = RunFolder.current.setting()
        setting.order = StepOrder(plan, history: history, changedFiles: [])
        let outcome = await run(steps, setting: setting, pool: SlotPool(slots: 1))
        #expect(outcome.verdict == .passed)
        #expect(RunFolder.current.text("started") == "c\nafter c\nd\ne\na\nb\n")
    }

    @Test func aStepThatNeedsNoSlotIsGivenNone() async {
        let pool = SlotPool(slots: 1)
        let steps = [
            PlannedStep.shell("too much", "true") {
                $0.resources = [ResourceUse(resource: Resource("r", capacity: 1), units: 2)]
            },
            PlannedStep(name: "gate", action: .approval), .shell("b", "echo b >> started"),
        ]
        let outcome = await run(steps, pool: pool)
        #expect(outcome["too much"].status == .infrastructure)
        #expect(outcome["b"].status == .passed)
        #expect(pool.tryAcquire([]), "nothing is held any more")
    }

    @Test func aStopGivesBackWhatWasTakenBeforehand() async {
        let pool = SlotPool(slots: 2)
        let stop = StopSignal()
        stop.stop(StopRequest(.cancelled, reason: "enough"))
        let outcome = await run([.shell("a", "true"), .shell("b", "true")], pool: pool, stop: stop)
        #expect(outcome.verdict == .cancelled)
        #expect(pool.tryAcquire([]) && pool.tryAcquire([]))
        #expect(!pool.tryAcquire([]))
    }
}
