import Pipeline
import Testing

@testable import Engine

@Suite(.timeLimit(.minutes(1))) struct SlotPoolTests {
    private func use(_ name: String, _ units: Int = 1, of capacity: Int = 1) -> ResourceUse {
        ResourceUse(resource: Resource(name, capacity: capacity), units: units)
    }

    @Test func unitsOfOneNameAddUp() async {
        let pool = SlotPool(slots: 2)
        let twice = [use("r", of: 2), use("r", of: 2)]
        #expect(await pool.acquire(twice))
        #expect(await pool.obstacle(to: [use("r", of: 2)]) == "waiting for \"r\"")
        await pool.release(twice)
        #expect(await pool.obstacle(to: [use("r", of: 2)]) == nil)
        #expect(pool.impossibility(of: [use("r"), use("r")]) == "it uses 2 of \"r\" and the box has 1")
    }

    @Test func aCancelledWaiterHoldsNothing() async {
        let pool = SlotPool(slots: 1)
        #expect(await pool.acquire([]))
        let waiter = Task { await pool.acquire([]) }
        waiter.cancel()
        #expect(await waiter.value == false)
        await pool.release([])
        #expect(pool.tryAcquire([]))
        #expect(!pool.tryAcquire([]))
    }

    @Test func aTicketThatWasGivenUpBeforeIsNotWaitedWith() async {
        let pool = SlotPool(slots: 1)
        let ticket = pool.takeTicket()
        pool.giveUp(ticket)
        #expect(await pool.wait(for: [], ticket: ticket) == false)
        #expect(pool.tryAcquire([]))
    }

    @Test func whoWaitsForAResourceDoesNotHoldUpTheOthers() async {
        let pool = SlotPool(slots: 3)
        #expect(await pool.acquire([use("r")]))
        async let second = pool.acquire([use("r")])
        while await pool.obstacle(to: [use("r")]) == nil { await Task.yield() }
        #expect(await pool.acquire([]))
        await pool.release([use("r")])
        #expect(await second)
        await pool.release([use("r")])
        await pool.release([])
    }

    @Test func aRunsStepsAreServedInItsOrderAndOtherRunsInTurn() async throws {
        let pool = SlotPool(slots: 1)
        #expect(await pool.acquire([]))
        let (one, other) = (pool.takeRunNumber(), pool.takeRunNumber())
        let (names, continuation) = AsyncStream<String>.makeStream()
        let asked: [(run: Int, place: Int, name: String)] = [
            (one, 2, "one 2"), (other, 1, "other 1"), (one, 0, "one 0"), (other, 0, "other 0"), (one, 1, "one 1"),
        ]
        await withTaskGroup(of: Void.self) { group in
            for (count, step) in asked.enumerated() {
                group.addTask {
                    let turn = SlotPool.Turn(run: step.run, place: step.place)
                    guard await pool.wait(for: [], ticket: pool.takeTicket(), turn: turn) else { return }
                    continuation.yield(step.name)
                    await pool.release([])
                }
                while pool.waiting <= count { await Task.yield() }
            }
            await pool.release([])
        }
        continuation.finish()
        var served: [String] = []
        for await name in names { served.append(name) }
        #expect(served == ["one 0", "other 0", "one 1", "other 1", "one 2"])
    }

    /// Many tasks that come, hold, go and give up, with never more than there is and never a lost unit.
    @Test func nothingIsLostUnderLoad() async {
        let pool = SlotPool(slots: 3)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let uses = number.isMultiple(of: 3) ? [use("r", 1 + number % 2, of: 2)] : []
                    guard await pool.acquire(uses) else { return }
                    await Task.yield()
                    await pool.release(uses)
                }
                if number.isMultiple(of: 50) { group.cancelAll() }
            }
        }
        #expect(await pool.acquire([use("r", 2, of: 2)]))
        #expect(pool.tryAcquire([]) && pool.tryAcquire([]))
        #expect(!pool.tryAcquire([]))
    }
}
