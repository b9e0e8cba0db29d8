@testable import MachinePool
import Pipeline
import Testing

@Suite struct MachinePoolTests {
    private func machine(
        _ name: String, _ traits: [MachineTrait] = [.linux], cpus: Int = 8, memory: Int = 16 << 30, slots: Int = 1
    ) -> Machine {
        Machine(
            name: name, address: MachineAddress("ssh://\(name)") ?? .here, traits: traits, cpus: cpus, memory: memory,
            slots: slots)
    }

    private func run(
        _ id: Int, _ owner: String = "website", needs: MachineNeeds = MachineNeeds(), snapshot: String = "test",
        seconds: Double = 100, gain: Double = 0
    ) -> WaitingRun {
        WaitingRun(id: id, owner: owner, needs: needs, snapshot: snapshot, seconds: seconds, warmGain: gain)
    }

    @Test func `a run starts only where its needs are met`() {
        var pool = MachinePool([machine("a"), machine("mac", [.macOS, .arch(.arm64)])])
        pool.enqueue(run(1, needs: MachineNeeds(traits: [.macOS])))
        pool.enqueue(run(2, needs: MachineNeeds(traits: [.macOS])))
        pool.enqueue(run(3, needs: MachineNeeds(cpus: 9)))
        #expect(pool.next(now: 0) == Assignment(run: 1, machine: "mac", isWarm: false))
        #expect(pool.next(now: 0) == nil)
        pool.end(1)
        #expect(pool.next(now: 1)?.run == 2)
        #expect(pool.waiting == 1)
        #expect(pool.obstacle(to: MachineNeeds(cpus: 9))?.code == .noneFits)
    }

    @Test func `a run may be bound to a machine, or kept from some`() {
        var pool = MachinePool([machine("a"), machine("b")])
        var bound = run(1)
        bound.scope = .only("b")
        var kept = run(2)
        kept.scope = .allBut(["a"])
        pool.enqueue(bound)
        pool.enqueue(kept)
        pool.enqueue(run(3))
        #expect(pool.next(now: 0) == Assignment(run: 1, machine: "b", isWarm: false))
        #expect(pool.next(now: 0)?.run == 3)
        #expect(pool.next(now: 0) == nil)
        #expect(pool.obstacle(to: MachineNeeds(), within: kept.scope)?.code == .busy)
        pool.end(1)
        #expect(pool.next(now: 1) == Assignment(run: 2, machine: "b", isWarm: false))
        #expect(pool.obstacle(to: MachineNeeds(), within: .allBut(["a", "b"]))?.isFinal == true)
    }

    @Test func `the daemon's machine comes first, and may have more runs than it has slots`() {
        let here = Machine(
            name: "here", address: .here, traits: [.linux, .label("x"), .label("y")], cpus: 2, memory: 1 << 30)
        var pool = MachinePool([machine("a", slots: 9), here])
        pool.enqueue(run(1))
        #expect(pool.next(now: 0)?.machine == "here")
        pool.occupy("here", by: run(2), now: 0)
        pool.end(1)
        pool.enqueue(run(3))
        #expect(pool.next(now: 0)?.machine == "a")
        pool.end(2)
        #expect(pool.free(on: "here")?.slots == 1)
    }

    @Test func `machines that few runs can use stay free for them`() {
        var pool = MachinePool([machine("gpu", [.linux, .label("gpu")]), machine("plain")])
        pool.enqueue(run(1))
        pool.enqueue(run(2, needs: MachineNeeds(traits: [.label("gpu")])))
        #expect(pool.next(now: 0)?.machine == "plain")
        #expect(pool.next(now: 0)?.machine == "gpu")
    }

    @Test func `processors and memory of all runs of a machine count`() {
        var pool = MachinePool([machine("a", cpus: 8, memory: 16 << 30, slots: 4)])
        pool.enqueue(run(1, needs: MachineNeeds(cpus: 6)))
        pool.enqueue(run(2, needs: MachineNeeds(cpus: 4)))
        pool.enqueue(run(3, needs: MachineNeeds(memory: 20 << 30)))
        pool.enqueue(run(4, needs: MachineNeeds(cpus: 2, memory: 16 << 30)))
        #expect(pool.next(now: 0)?.run == 1)
        #expect(pool.next(now: 0)?.run == 4)
        #expect(pool.next(now: 0) == nil)
        #expect(pool.free(on: "a") == FreeCapacity(slots: 2, cpus: 0, memory: 0))
        #expect(pool.obstacle(to: MachineNeeds(cpus: 1))?.code == .busy)
        pool.end(1)
        #expect(pool.next(now: 1)?.run == 2)
    }

    @Test func `each run of a cluster may have the largest allocation`() {
        var cluster = machine("cluster", cpus: 16, memory: 64 << 30, slots: 3)
        cluster.address = .slurm(partition: nil)
        var pool = MachinePool([cluster])
        let all = MachineNeeds(cpus: 16, memory: 64 << 30)
        for id in 1...4 { pool.enqueue(run(id, needs: all)) }
        #expect((1...3).map { _ in pool.next(now: 0)?.run } == [1, 2, 3])
        #expect(pool.next(now: 0) == nil && pool.obstacle(to: all)?.code == .busy)
        #expect(pool.free(on: "cluster") == FreeCapacity(slots: 0, cpus: 16, memory: 64 << 30))
        #expect(pool.obstacle(to: MachineNeeds(cpus: 17))?.code == .noneFits)
        pool.end(2)
        #expect(pool.next(now: 1)?.run == 4)
    }

    @Test func `a machine that is draining or lost gets no run, and says why`() {
        var pool = MachinePool([machine("a", slots: 2), machine("b")])
        pool.enqueue(run(1))
        #expect(pool.next(now: 0)?.machine == "a")
        pool.set(.draining, of: "a")
        pool.set(.unreachable("no route"), of: "b")
        pool.enqueue(run(2))
        #expect(pool.next(now: 0) == nil)
        #expect(pool.runs(on: "a") == [1])
        #expect(pool.obstacle(to: MachineNeeds())?.code == .noneReady)
        #expect(pool.reason(against: "b")?.contains("no route") == true)
        pool.set(.ready, of: "b")
        #expect(pool.obstacle(to: MachineNeeds()) == nil)
        #expect(pool.next(now: 0)?.machine == "b")
        #expect(pool.remove("a") == [1])
        #expect(MachinePool().obstacle(to: MachineNeeds())?.code == .noMachines)
    }

    @Test func `a run goes to the machine with its snapshot, and other runs elsewhere`() {
        var pool = MachinePool([machine("a"), machine("b"), machine("c")])
        pool.note(snapshot: "test", on: "c", isThere: true)
        pool.enqueue(run(1, snapshot: "other", gain: 50))
        pool.enqueue(run(2, gain: 50))
        #expect(pool.next(now: 0) == Assignment(run: 2, machine: "c", isWarm: true))
        #expect(pool.next(now: 0)?.machine != "c")
    }

    /// "a" has the snapshot and is busy until 100 seconds have passed.
    private func busyWarm() -> MachinePool {
        var pool = MachinePool([machine("a"), machine("b")])
        pool.note(snapshot: "test", on: "a", isThere: true)
        pool.enqueue(run(1, snapshot: "test", seconds: 100))
        return pool
    }

    @Test func `a run waits for its snapshot only while that is faster`() {
        var pool = busyWarm()
        #expect(pool.next(now: 0)?.machine == "a")
        // It would gain 150 seconds, and the machine is expected to be free in 10.
        pool.enqueue(run(2, gain: 150))
        #expect(pool.next(now: 90) == nil)
        #expect(pool.nextTime == 100)
        // The machine is late, so the run takes the other one.
        #expect(pool.next(now: 101) == Assignment(run: 2, machine: "b", isWarm: false))
    }

    @Test func `a run does not wait for a snapshot that is worth less than the wait`() {
        var pool = busyWarm()
        #expect(pool.next(now: 0)?.machine == "a")
        pool.enqueue(run(2, gain: 50))
        #expect(pool.next(now: 10) == Assignment(run: 2, machine: "b", isWarm: false))
    }

    @Test func `an owner with many runs does not hold up another one`() {
        var pool = MachinePool([machine("a")])
        for id in 0..<1_000 { pool.enqueue(run(id, "busy")) }
        pool.enqueue(run(5_000, "calm"))
        var started: [Int] = []
        for _ in 0..<3 {
            guard let found = pool.next(now: 0) else { break }
            started.append(found.run)
            pool.end(found.run)
        }
        #expect(started.contains(5_000))
    }

    @Test func `a run that needs a whole machine gets one although small runs never end`() throws {
        var pool = MachinePool([machine("a", cpus: 8, slots: 8), machine("b", cpus: 8, slots: 8)])
        pool.enqueue(run(0, "small", needs: MachineNeeds(cpus: 1)))
        _ = pool.next(now: 0)
        pool.enqueue(run(-1, "large", needs: MachineNeeds(cpus: 8), seconds: 1))
        pool.enqueue(run(-2, "large", needs: MachineNeeds(cpus: 8), seconds: 1))
        #expect(pool.next(now: 0)?.run == -1)
        var (next, running, steps) = (1, [0], 0)
        pool.end(-1)
        pool.enqueue(run(-3, "large", needs: MachineNeeds(cpus: 8), seconds: 1))
        for _ in 0..<20 {
            pool.enqueue(run(next, "small", needs: MachineNeeds(cpus: 1), seconds: 1))
            next += 1
        }
        // Small runs come as fast as others end, and each of them fits.
        var largeStarted = 0
        while largeStarted < 2, steps < 2_000 {
            steps += 1
            while let found = pool.next(now: Double(steps)) {
                if found.run < 0 {
                    largeStarted += 1
                    pool.end(found.run)
                } else {
                    running.append(found.run)
                    pool.enqueue(run(next, "small", needs: MachineNeeds(cpus: 1), seconds: 1))
                    next += 1
                }
                if largeStarted == 2 { break }
            }
            if !running.isEmpty { pool.end(running.removeFirst()) }
        }
        #expect(largeStarted == 2)
    }

    @Test func `a run that is cancelled is not started`() {
        var pool = MachinePool([machine("a")])
        pool.enqueue(run(1))
        pool.cancel(1)
        #expect(pool.next(now: 0) == nil)
        #expect(pool.waiting == 0)
    }

    @Test func `what an owner did not get costs it nothing`() {
        var pool = MachinePool([machine("a")])
        pool.enqueue(run(1, "busy"))
        #expect(pool.next(now: 0)?.run == 1)
        // A step that found a slot on the machine of its run.
        for number in 2...20 {
            pool.enqueue(run(number, "busy", seconds: 1_000))
            pool.cancel(number)
        }
        pool.enqueue(run(21, "busy", seconds: 10))
        pool.enqueue(run(22, "other", seconds: 200))
        pool.end(1)
        #expect(pool.next(now: 1)?.run == 21)
    }

    @Test(arguments: [Array(2...19), Array((2...19).reversed())])
    func `runs that are cancelled cost their owner nothing, in whichever order`(order: [Int]) {
        var pool = MachinePool([machine("a")])
        pool.enqueue(run(1, "busy"))
        #expect(pool.next(now: 0)?.run == 1)
        for number in 2...19 { pool.enqueue(run(number, "busy", seconds: 60)) }
        pool.enqueue(run(20, "busy", seconds: 10))
        for number in order { pool.cancel(number) }
        pool.enqueue(run(21, "busy", seconds: 10))
        pool.enqueue(run(22, "other", seconds: 50))
        var started: [Int] = []
        for id in [1, 20, 21] {
            pool.end(id)
            if let found = pool.next(now: 1) { started.append(found.run) }
        }
        #expect(started == [20, 21, 22])
    }

    @Test func `a cancelled run gives its owner nothing for what was asked for after it had its turn`() {
        var pool = MachinePool([machine("a")])
        var bound = run(1, "busy", seconds: 1_000)
        bound.scope = .only("none")
        pool.enqueue(bound)
        for number in 2...30 {
            pool.enqueue(run(number, "other", seconds: 100))
            #expect(pool.next(now: 0)?.run == number)
            pool.end(number)
        }
        pool.enqueue(run(31, "busy", seconds: 50))
        pool.cancel(1)
        pool.enqueue(run(32, "busy", seconds: 50))
        pool.enqueue(run(33, "third", seconds: 75))
        var started: [Int] = []
        while let found = pool.next(now: 1) {
            started.append(found.run)
            pool.end(found.run)
        }
        #expect(started == [31, 33, 32])
    }

    @Test func `a machine that is removed takes its snapshots with it, and others keep theirs`() {
        var pool = MachinePool([machine("a"), machine("b"), machine("c")])
        pool.note(snapshot: "test", on: "a", isThere: true)
        pool.note(snapshot: "test", on: "c", isThere: true)
        #expect(pool.remove("a").isEmpty)
        pool.enqueue(run(1, gain: 50))
        #expect(pool.next(now: 0) == Assignment(run: 1, machine: "c", isWarm: true))
    }

    @Test func `a snapshot is worth what past runs say, and less while few are known`() {
        let cases: [(cold: [Double], warm: [Double], seconds: Double)] = [
            ([], [10], 0), ([100], [], 0), ([100], [40], 30), ([100, 100, 100], [40, 40, 40], 45),
            ([10, 10], [40, 40], 0), ([100, 100, .nan], [40, 40, -1], 40),
        ]
        for (cold, warm, seconds) in cases {
            #expect(abs(WarmWorth.seconds(cold: cold, warm: warm) - seconds) < 0.001)
        }
    }

    /// The short form of `script/bench machines`: a debug build is ten times slower, so the limit for time is the
    /// bench's matter.
    @Test(.timeLimit(.minutes(2))) func `no run starves, and snapshots are used more often than by chance`() {
        let simulation = PoolSimulation(nodes: 20, runs: 1_000)
        let (aware, random) = (simulation.result(seesSnapshots: true), simulation.result(seesSnapshots: false))
        for result in [aware, random] {
            #expect(!result.waits.contains { $0 < 0 })
            #expect(result.mostOvertaken <= MachinePool.mostOvertaken + MachinePool.window)
        }
        #expect(aware.warm > random.warm)
        #expect(aware.work < random.work)
    }
}
