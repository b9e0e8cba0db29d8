import Concurrency
import Foundation
import Pipeline
import PlanOrder
import StepSlots
import Testing

@testable import Results
@testable import Engine
import TestSupport

/// The order in which a run's steps get the slots.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct RunnerOrderTests {
    @Test func `steps start in their order if slots are scarce`() async {
        let names = ["a", "b", "c", "d", "e"]
        let steps =
            names.map { PlannedStep.shell($0, "echo \($0) >> started") }
            + [.shell("after c", "echo after c >> started", needs: ["c"])]
        var history = StepHistory()
        // The step that waits for c failed before; of the rest, e takes longest.
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

    @Test func `a step that needs no slot gets none`() async {
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
        #expect(pool.takeNow([]), "nothing is held any more")
    }

    @Test func `a stop gives reserved slots back`() async throws {
        let pool = SlotPool(slots: 1)
        #expect(await pool.acquire([]))
        let (stop, events) = (StopSignal(), EventList())
        async let outcome = run([.shell("a", "true"), .shell("b", "true")], pool: pool, stop: stop, events: events)
        for name in ["a", "b"] {
            try await events.wait { if case .stepWaiting(let step, _) = $0 { step == name } else { false } }
        }
        stop.stop(StopRequest(.cancelled, reason: "enough"))
        #expect(await outcome.verdict == .cancelled)
        #expect(pool.waiting == 0)
        pool.release([])
        #expect(pool.takeNow([]))
        #expect(!pool.takeNow([]), "one slot, as before")
    }

    @Test func `a reservation is served before its task arrives`() async {
        let pool = SlotPool(slots: 1)
        let first = pool.reserve([], turn: SlotPool.Turn(run: 1, place: 0))
        let second = pool.reserve([], turn: SlotPool.Turn(run: 1, place: 1))
        #expect(pool.isGranted(first) && !pool.isGranted(second))
        pool.giveUp(second)
        #expect(await pool.wait(second) == false)
        // Too late: it holds the slot and tells waiters so.
        pool.giveUp(first)
        #expect(await pool.wait(first))
        #expect(!pool.takeNow([]))
        pool.release([])
        #expect(pool.takeNow([]))
    }
}
