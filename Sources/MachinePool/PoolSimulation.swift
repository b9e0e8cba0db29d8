import Pipeline

/// Drives a ``MachinePool`` with made-up machines, runs and time: its decisions are the real ones.
package struct PoolSimulation {
    /// What a simulation found.
    package struct Result: Sendable {
        /// By run, how long it waited, in simulated seconds.
        package var waits: [Double] = []
        /// Simulated seconds from the first run's start to the last one's end.
        package var end = 0.0
        /// How many runs started from a snapshot.
        package var warm = 0
        /// Simulated seconds of all runs on machines.
        package var work = 0.0
        /// Real time of each decision.
        package var decisions: [Duration] = []
        /// The longest time between a run that came later starting, and this run starting, counted in runs: by how many
        /// runs that its owner asked for later, with the same needs, a run was overtaken.
        package var mostOvertaken = 0

        /// The value below which this share of the decisions is, in microseconds.
        package func decision(_ share: Double) -> Double {
            let sorted = decisions.sorted()
            guard !sorted.isEmpty else { return 0 }
            let index = min(Int(Double(sorted.count) * share), sorted.count - 1)
            return sorted[index] / .microseconds(1)
        }
    }

    /// How many machines there are.
    package var nodes: Int
    /// How many runs wait at the start.
    package var runs: Int
    /// How many snapshots a machine keeps.
    package var kept = 6

    package init(nodes: Int = 100, runs: Int = 10_000) {
        (self.nodes, self.runs) = (nodes, runs)
    }

    /// Linux on two processors, some of them with GPUs, and Macs.
    private var machines: [Machine] {
        (0..<nodes).map { number in
            let isMac = number % 10 == 9
            let isARM = isMac || number % 5 == 3
            var traits: [MachineTrait] = [isMac ? .macOS : .linux, .arch(isARM ? .arm64 : .x64)]
            if number % 12 == 0 { traits.append(.label("gpu")) }
            let large = number % 4 == 0
            return Machine(
                name: "node\(number)", address: MachineAddress("ssh://node\(number)") ?? .here, traits: traits,
                cpus: large ? 16 : 8, memory: (large ? 64 : 16) << 30, slots: large ? 4 : 2)
        }
    }

    /// 40 repositories, the first with half of all runs, with three workflows each.
    private func waitingRuns() -> [WaitingRun] {
        var random = Numbers(state: 29)
        var longest: [String: Double] = [:]
        return (0..<runs).map { id in
            let repository = random.next(2) == 0 ? 0 : random.next(40)
            let workflow = random.next(3)
            let needs: MachineNeeds =
                switch random.next(20) {
                case 0: MachineNeeds(traits: [.macOS])
                case 1: MachineNeeds(traits: [.linux, .arch(.arm64)], cpus: 2)
                case 2: MachineNeeds(traits: [.label("gpu")])
                case 3: MachineNeeds(cpus: 16, memory: 32 << 30)
                case 4...9: MachineNeeds(traits: [.linux], cpus: 2, memory: 4 << 30)
                default: MachineNeeds()
                }
            let key = "repository\(repository)/\(workflow)"
            let seconds = longest[key] ?? Double(60 + random.next(600))
            longest[key] = seconds
            return WaitingRun(
                id: id, owner: "repository\(repository)", needs: needs, snapshot: key, seconds: seconds,
                warmGain: seconds * 0.6)
        }
    }

    /// Lets all runs start and end.
    ///
    /// - Parameter seesSnapshots: Whether the pool takes snapshots into account. If not, it takes machines at random.
    package func result(seesSnapshots: Bool) -> Result {
        var pool = MachinePool(machines, seesSnapshots: seesSnapshots)
        let all = waitingRuns()
        for run in all { pool.enqueue(run) }
        var result = Result()
        result.waits = Array(repeating: -1, count: all.count)
        var (now, ends) = (0.0, Events())
        var cached: [String: [String]] = [:]
        var random = Numbers(state: 7)
        let clock = ContinuousClock()
        while true {
            while true {
                var found: Assignment?
                result.decisions.append(clock.measure { found = pool.next(now: now) })
                guard let found else { break }
                let run = all[found.run]
                result.waits[found.run] = now
                result.warm += found.isWarm ? 1 : 0
                // Between 90 and 110 % of what was expected.
                let share = 0.9 + Double(random.next(200)) / 1_000
                let seconds = (run.seconds - (found.isWarm ? run.warmGain : 0)) * share
                result.work += seconds
                ends.add(now + seconds, found)
            }
            // A run that waits for a snapshot may start before another one ends.
            if let next = pool.nextTime, next > now, next < ends.first ?? .infinity {
                now = next
                continue
            }
            guard let (time, ended) = ends.removeFirst() else { break }
            now = time
            pool.end(ended.run)
            let key = all[ended.run].snapshot
            var keys = cached[ended.machine, default: []].filter { $0 != key }
            keys.append(key)
            if keys.count > kept { pool.note(snapshot: keys.removeFirst(), on: ended.machine, isThere: false) }
            pool.note(snapshot: key, on: ended.machine, isThere: true)
            cached[ended.machine] = keys
        }
        result.end = now
        result.mostOvertaken = overtaken(all, result.waits)
        return result
    }

    /// By how many later runs with the same owner and needs the most overtaken run was overtaken.
    private func overtaken(_ runs: [WaitingRun], _ starts: [Double]) -> Int {
        struct Group: Hashable { var owner: String, needs: MachineNeeds }
        let groups = Dictionary(grouping: runs) { Group(owner: $0.owner, needs: $0.needs) }
        return groups.values.map { group in
            group.indices.map { index in
                group[(index + 1)...].count { starts[$0.id] < starts[group[index].id] }
            }.max() ?? 0
        }.max() ?? 0
    }
}

/// What ends when, in a heap.
private struct Events {
    private var heap: [(time: Double, value: Assignment)] = []

    var first: Double? { heap.first?.time }

    mutating func add(_ time: Double, _ value: Assignment) {
        heap.append((time, value))
        var index = heap.count - 1
        while index > 0, heap[index].time < heap[(index - 1) / 2].time {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func removeFirst() -> (Double, Assignment)? {
        guard let first = heap.first, let last = heap.popLast() else { return nil }
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var index = 0
        while true {
            let children = [2 * index + 1, 2 * index + 2].filter { $0 < heap.count }
            guard let least = children.min(by: { heap[$0].time < heap[$1].time }), heap[least].time < heap[index].time
            else { return first }
            heap.swapAt(least, index)
            index = least
        }
    }
}

/// The same random numbers in every simulation.
private struct Numbers {
    var state: UInt64

    /// From 0 to `limit` - 1 (the generator SplitMix64).
    mutating func next(_ limit: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int((value ^ (value >> 31)) % UInt64(limit))
    }
}
