import Concurrency
import Pipeline
import StepSlots
import Synchronization
import TestBasics
import Testing

@testable import Engine

extension SlotPool {
    /// Takes a slot and `uses` like a step of a run of its own; false if its task was cancelled first.
    func acquire(_ uses: [ResourceUse]) async -> Bool {
        let ticket = reserve(uses, turn: Turn(run: takeRunNumber(), place: 0))
        return await withTaskCancellationHandler {
            await wait(ticket)
        } onCancel: {
            giveUp(ticket)
        }
    }

    /// Takes a slot and `uses` if they are free and no other task waits for them.
    func takeNow(_ uses: [ResourceUse]) -> Bool {
        let ticket = reserve(uses, turn: Turn(run: takeRunNumber(), place: 0))
        if isGranted(ticket) { return true }
        giveUp(ticket)
        return false
    }
}

@Suite(.timeLimit(.minutes(1))) struct SlotPoolTests {
    private func use(_ name: String, _ units: Int = 1, of capacity: Int = 1) -> ResourceUse {
        ResourceUse(resource: Resource(name, capacity: capacity), units: units)
    }

    @Test func `units of one resource add up`() async {
        let pool = SlotPool(slots: 2)
        let twice = [use("r", of: 2), use("r", of: 2)]
        #expect(await pool.acquire(twice))
        #expect(pool.obstacle(to: [use("r", of: 2)]) == "waiting for \"r\"")
        pool.release(twice)
        #expect(pool.obstacle(to: [use("r", of: 2)]) == nil)
        #expect(pool.impossibility(of: [use("r"), use("r")]) == "it uses 2 of \"r\" and the daemon has 1")
    }

    @Test func `a cancelled waiter holds nothing`() async {
        let pool = SlotPool(slots: 1)
        #expect(await pool.acquire([]))
        let waiter = Task { await pool.acquire([]) }
        waiter.cancel()
        #expect(await waiter.value == false)
        pool.release([])
        #expect(pool.takeNow([]))
        #expect(!pool.takeNow([]))
    }

    @Test func `other machines have slots of their own, and the resources of all`() async {
        let pool = SlotPool(slots: 1)
        var other: SlotPool? = pool.elsewhere(slots: 2)
        #expect(await pool.acquire([]))
        #expect(pool.obstacle(to: []) == "the slot is busy")
        #expect(other?.obstacle(to: []) == nil)
        #expect(other?.takeNow([use("r")]) == true)
        #expect(other?.takeNow([use("r")]) == false, "there is one r for all machines")
        #expect(other?.takeNow([]) == true)
        #expect(other?.takeNow([]) == false)
        // Whoever waits for the slot of one machine does not keep the others from theirs.
        let ticket = pool.reserve([use("r")], turn: SlotPool.Turn(run: 7, place: 0))
        other?.release([use("r")])
        #expect(other?.takeNow([use("r")]) == true)
        #expect(!pool.isGranted(ticket))
        other?.release([use("r")])
        other = nil
        pool.release([])
        #expect(pool.isGranted(ticket))
    }

    @Test func `a ticket that was given up before is not waited for`() async {
        let pool = SlotPool(slots: 1)
        #expect(await pool.acquire([]))
        let ticket = pool.reserve([], turn: SlotPool.Turn(run: 1, place: 0))
        pool.giveUp(ticket)
        #expect(await pool.wait(ticket) == false)
        pool.release([])
        #expect(pool.takeNow([]))
    }

    @Test func `a waiter for a resource does not delay others`() async {
        let pool = SlotPool(slots: 3)
        #expect(await pool.acquire([use("r")]))
        async let second = pool.acquire([use("r")])
        while pool.obstacle(to: [use("r")]) == nil { await Task.yield() }
        #expect(await pool.acquire([]))
        pool.release([use("r")])
        #expect(await second)
        pool.release([use("r")])
        pool.release([])
    }

    @Test func `steps of one run are served in order, and runs in turn`() async throws {
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
                    guard await pool.wait(pool.reserve([], turn: turn)) else { return }
                    continuation.yield(step.name)
                    pool.release([])
                }
                while pool.waiting <= count { await Task.yield() }
            }
            pool.release([])
        }
        continuation.finish()
        var served: [String] = []
        for await name in names { served.append(name) }
        #expect(served == ["one 0", "other 0", "one 1", "other 1", "one 2"])
    }

    /// Many tasks that arrive, hold, leave and give up: never more units than exist, and none lost.
    @Test func `no slot is lost under load`() async {
        let pool = SlotPool(slots: 3)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let uses = number.isMultiple(of: 3) ? [use("r", 1 + number % 2, of: 2)] : []
                    guard await pool.acquire(uses) else { return }
                    await Task.yield()
                    pool.release(uses)
                }
                if number.isMultiple(of: 50) { group.cancelAll() }
            }
        }
        #expect(await pool.acquire([use("r", 2, of: 2)]))
        #expect(pool.takeNow([]) && pool.takeNow([]))
        #expect(!pool.takeNow([]))
    }

    @Test func `whoever gets another machine first gives up the slot, and the other way round`() async {
        let pool = SlotPool(slots: 1)
        let (uses, stop) = ([use("r")], StopSignal())
        func ticket() -> Int { pool.reserve(uses, turn: SlotPool.Turn(run: pool.takeRunNumber(), place: 0)) }
        let left = Mutex(0)
        func wait(_ ticket: Int, _ hold: @escaping @Sendable () async -> Int?) async -> (isGranted: Bool, other: Int?) {
            await pool.acquire(ticket, uses, stop, or: hold) { _ in left.withLock { $0 += 1 } }
        }
        // A slot that is free is taken, and nobody is asked.
        let first = await wait(ticket()) { 1 }
        #expect(first.isGranted && first.other == nil)
        // The slot is taken now, so what comes first is another machine.
        let second = await wait(ticket()) { 2 }
        #expect(!second.isGranted && second.other == 2 && pool.waiting == 0)
        // No other machine comes, and then the slot is free.
        let third = await wait(ticket()) {
            pool.release([ResourceUse(resource: Resource("r", capacity: 1), units: 1)])
            await untilCancelled()
            return 3
        }
        #expect(third.isGranted && third.other == nil && left.withLock { $0 } == 1)
        // A stop ends both waits, and what came is given back.
        let last = await wait(ticket()) {
            stop.stop(StopRequest(.cancelled, reason: "enough"))
            return 4
        }
        #expect(!last.isGranted && last.other == nil && left.withLock { $0 } == 2)
        pool.release(uses)
        #expect(pool.obstacle(to: uses) == nil)
    }
}
