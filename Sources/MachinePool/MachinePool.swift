import Pipeline

/// Which machine runs which waiting run. A value: it starts nothing and reads no clock.
///
/// **Order.** Owners share the machines: each run has a place in the order by what its owner has asked for so far, so
/// one with a thousand runs does not hold up one with a single run. Runs of one owner keep their order.
///
/// **Choice.** Of the first runs that fit on a free machine, the one goes first that gains the most seconds by a
/// snapshot there. So a run may be overtaken, but only ``mostOvertaken`` times. Then it goes first, and if no machine
/// has enough room for it, one is kept free until it has.
package struct MachinePool: Sendable {
    /// How many runs are considered for one decision.
    package static let window = 64
    /// How often a run may see another one start on a machine that it could have had itself.
    package static let mostOvertaken = 100

    struct Entry: Sendable {
        var machine: Machine
        var runs: [Int: Held] = [:]
        var free: FreeCapacity
        /// When the first of its runs is expected to end; nil if it has none.
        var firstEnd: Double?
    }

    /// What a run holds, and when it is expected to end.
    struct Held: Sendable {
        var needs: MachineNeeds
        var end: Double
    }

    private struct Waiter: Sendable {
        var run: WaitingRun
        /// The index of its demand in ``kinds``.
        var kind: Int
        /// Its place in the order: ``charge`` after the run before it of the same owner, or after ``since``.
        var rank: Double
        /// ``MachinePool/time`` when it came.
        var since: Double
        var charge: Double { max(run.seconds, 0.001) }
        var overtaken = 0
        /// Until then it waits for a machine with a snapshot.
        var holdsUntil: Double?
        /// Whether it has waited for a snapshot, and takes what there is.
        var hasHeld = false
    }

    /// Runs with the same demand.
    private struct Kind: Sendable {
        var demand: Demand
        /// The machines that could run it if they were free.
        var machines: [Int]
        /// By machine, whether it is one of ``machines``.
        var fits: [Bool]

        init(_ demand: Demand, among entries: [Entry]) {
            self.demand = demand
            fits = entries.map { demand.fits($0.machine) }
            machines = fits.indices.filter { [fits] in fits[$0] }
        }
    }

    /// Whether snapshots count. If not, machines are taken at random: only a comparison does that.
    private let seesSnapshots: Bool
    private(set) var entries: [Entry] = []
    private var places: [String: Int] = [:]
    private var kinds: [Kind] = []
    private var kindOf: [Demand: Int] = [:]
    /// By rank.
    private var waiters: [Waiter] = []
    /// The machines that have each snapshot.
    private var snapshots: [String: Set<Int>] = [:]
    /// The rank of the last run of each owner.
    private var lastRank: [String: Double] = [:]
    /// The rank of the last run that started.
    private var time = 0.0

    package init(_ machines: [Machine] = [], seesSnapshots: Bool = true) {
        self.seesSnapshots = seesSnapshots
        for machine in machines { add(machine) }
    }

    // MARK: Machines

    package var machines: [Machine] { entries.map(\.machine) }

    /// The runs that a machine has, the oldest first.
    package func runs(on name: String) -> [Int] { places[name].map { entries[$0].runs.keys.sorted() } ?? [] }

    /// The machine that a run is on; nil if it has none.
    package func machine(of run: Int) -> String? { entries.first { $0.runs[run] != nil }?.machine.name }

    /// What a machine has for further runs; nil for an unknown one.
    package func free(on name: String) -> FreeCapacity? { places[name].map { entries[$0].free } }

    /// Adds a machine, or replaces what is known of it; its runs go on.
    package mutating func add(_ machine: Machine) {
        if let index = places[machine.name] {
            entries[index].machine = machine
            entries[index].refresh()
        } else {
            places[machine.name] = entries.count
            var entry = Entry(machine: machine, free: FreeCapacity(slots: 0, cpus: 0, memory: 0))
            entry.refresh()
            entries.append(entry)
        }
        kinds = kinds.map { Kind($0.demand, among: entries) }
    }

    /// Forgets a machine.
    ///
    /// - Returns: The runs that it had, which have no place any more.
    @discardableResult package mutating func remove(_ name: String) -> [Int] {
        guard let index = places[name] else { return [] }
        let left = runs(on: name)
        entries.remove(at: index)
        places = Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.machine.name, $0) })
        for (key, has) in snapshots {
            snapshots[key] = Set(has.compactMap { $0 == index ? nil : $0 > index ? $0 - 1 : $0 })
        }
        kinds = kinds.map { Kind($0.demand, among: entries) }
        return left
    }

    /// Sets whether runs may start on a machine.
    package mutating func set(_ state: Machine.State, of name: String) {
        if let index = places[name] { entries[index].machine.state = state }
    }

    /// Notes that a machine has a snapshot, or has it no longer.
    package mutating func note(snapshot: String, on name: String, isThere: Bool) {
        guard let index = places[name] else { return }
        if isThere {
            snapshots[snapshot, default: []].insert(index)
        } else {
            snapshots[snapshot]?.remove(index)
            if snapshots[snapshot]?.isEmpty == true { snapshots[snapshot] = nil }
        }
    }

    // MARK: Runs

    package var waiting: Int { waiters.count }

    /// Puts a run into the order.
    package mutating func enqueue(_ run: WaitingRun) {
        // Demands that nobody has any more are forgotten.
        if waiters.isEmpty { (kinds, kindOf) = ([], [:]) }
        var waiter = Waiter(run: run, kind: kind(of: run.demand), rank: 0, since: time)
        waiter.rank = max(time, lastRank[run.owner] ?? time) + waiter.charge
        lastRank[run.owner] = waiter.rank
        insert(waiter)
    }

    private mutating func insert(_ waiter: Waiter) {
        // Behind those of the same rank.
        var (low, high) = (0, waiters.count)
        while low < high {
            let middle = (low + high) / 2
            if waiters[middle].rank <= waiter.rank { low = middle + 1 } else { high = middle }
        }
        waiters.insert(waiter, at: low)
    }

    /// Notes that a run is on a machine although nobody asked whether there is room for it.
    ///
    /// - Parameter now: As for ``next(now:)``.
    package mutating func occupy(_ name: String, by run: WaitingRun, now: Double) {
        guard let index = places[name] else { return }
        entries[index].runs[run.id] = Held(needs: run.needs, end: now + max(run.seconds, 0))
        entries[index].refresh()
    }

    /// Takes a run out of the order.
    package mutating func cancel(_ run: Int) {
        guard let index = waiters.firstIndex(where: { $0.run.id == run }) else { return }
        let waiter = waiters.remove(at: index)
        let owner = waiter.run.owner
        // What its owner asked for and did not get costs it nothing: steps often wait here until they find a slot on the
        // machine of their run. What it asked for later has its place as if this had never been asked for.
        let later = waiters[index...].filter { $0.run.owner == owner }
        let ids = Set(later.map(\.run.id))
        if !ids.isEmpty { waiters.removeAll { ids.contains($0.run.id) } }
        var last = -Double.infinity
        for var other in later {
            other.rank = max(other.rank - waiter.charge, max(other.since, last) + other.charge)
            last = other.rank
            insert(other)
        }
        lastRank[owner] = max((lastRank[owner] ?? waiter.rank) - waiter.charge, last)
    }

    /// Notes that a run has left its machine.
    package mutating func end(_ run: Int) {
        for index in entries.indices where entries[index].runs.removeValue(forKey: run) != nil {
            entries[index].refresh()
        }
    }

    /// Gives a waiting run a machine; nil if none can start now.
    ///
    /// - Parameter now: Seconds of any clock that goes forward.
    package mutating func next(now: Double) -> Assignment? {
        guard let choice = choose(now) else { return nil }
        let waiter = waiters.remove(at: choice.waiter)
        time = max(time, waiter.rank)
        // Those before it that could have had the machine have been overtaken.
        for index in 0..<choice.waiter where kinds[waiters[index].kind].fits[choice.machine] {
            waiters[index].overtaken += 1
        }
        let seconds = waiter.run.seconds - (choice.isWarm ? waiter.run.warmGain : 0)
        entries[choice.machine].runs[waiter.run.id] = Held(needs: waiter.run.needs, end: now + max(seconds, 0))
        entries[choice.machine].refresh()
        return Assignment(
            run: waiter.run.id, machine: entries[choice.machine].machine.name, isWarm: choice.isWarm)
    }

    /// When ``next(now:)`` may find something although nothing else has happened: a run stops waiting for its snapshot.
    /// Nil if no run waits for that.
    package var nextTime: Double? { waiters.compactMap(\.holdsUntil).min() }

    // MARK: The choice

    private struct Choice {
        var waiter: Int
        var machine: Int
        var isWarm: Bool
        var gain: Double
    }

    private mutating func choose(_ now: Double) -> Choice? {
        var open = entries.map { $0.machine.state == .ready && $0.free.slots > 0 }
        guard open.contains(true) else { return nil }
        for index in waiters.indices where waiters[index].overtaken >= Self.mostOvertaken {
            let kind = waiters[index].kind
            let room = room(for: kind, among: open)
            if !room.isEmpty { return choice(of: index, among: room) }
            // Nobody else gets the machine that will be the first to have room for it.
            if let kept = soonest(for: kind) { open[kept] = false }
        }
        // By kind, the machines that have room for it now; found when first needed.
        var rooms: [[Int]?] = Array(repeating: nil, count: kinds.count)
        var best: Choice?
        var seen = 0
        for index in waiters.indices {
            let kind = waiters[index].kind
            let room = rooms[kind] ?? room(for: kind, among: open)
            rooms[kind] = room
            guard !room.isEmpty else { continue }
            let choice = choice(of: index, among: room)
            if choice.isWarm || !isWorthWaiting(index, now) {
                // Without a snapshot nothing is gained, so the first of them stays the best of them.
                if choice.gain > best?.gain ?? -1 { best = choice }
            }
            seen += 1
            if seen == Self.window { break }
        }
        return best
    }

    private func room(for kind: Int, among open: [Bool]) -> [Int] {
        kinds[kind].machines.filter { open[$0] && entries[$0].free.fits(kinds[kind].demand.needs) }
    }

    /// The best machine for a run: one with a snapshot, then that of the daemon, then one that offers the least beyond
    /// what the run needs, so that rare machines stay free for those that need them; then the one with the most room.
    private func choice(of waiter: Int, among room: [Int]) -> Choice {
        let run = waiters[waiter].run
        let warm = snapshots[run.snapshot]
        guard seesSnapshots else {
            let machine = room[Int(UInt(bitPattern: run.id &* 2_654_435_761) >> 7 % UInt(room.count))]
            return Choice(waiter: waiter, machine: machine, isWarm: warm?.contains(machine) ?? false, gain: 0)
        }
        func isBetter(_ a: Int, _ b: Int) -> Bool {
            // An entry is not copied here: this is asked thousands of times for one decision.
            let (isHere, isOtherHere) = (entries[a].machine.address == .here, entries[b].machine.address == .here)
            if isHere != isOtherHere { return isHere }
            let (first, second) = (entries[a].machine.traits.count, entries[b].machine.traits.count)
            return first != second ? first < second : entries[a].free.slots > entries[b].free.slots
        }
        var best = room[0]
        var isWarm = warm?.contains(best) ?? false
        for machine in room.dropFirst() {
            let isAlsoWarm = warm?.contains(machine) ?? false
            if isAlsoWarm && !isWarm || isAlsoWarm == isWarm && isBetter(machine, best) {
                (best, isWarm) = (machine, isAlsoWarm)
            }
        }
        return Choice(waiter: waiter, machine: best, isWarm: isWarm, gain: isWarm ? run.warmGain : 0)
    }

    /// Whether a machine with a snapshot is expected to be free before a start without one would have caught up. That is
    /// decided once for a run, so that it does not wait again and again.
    private mutating func isWorthWaiting(_ waiter: Int, _ now: Double) -> Bool {
        if let until = waiters[waiter].holdsUntil {
            if now < until { return true }
            (waiters[waiter].holdsUntil, waiters[waiter].hasHeld) = (nil, true)
        }
        guard !waiters[waiter].hasHeld else { return false }
        let run = waiters[waiter].run
        guard seesSnapshots, run.warmGain > 0, let warm = snapshots[run.snapshot] else { return false }
        let kind = waiters[waiter].kind
        var end = Double.infinity
        for index in warm where kinds[kind].fits[index] && entries[index].machine.state == .ready {
            end = min(end, entries[index].firstEnd ?? .infinity)
        }
        guard end > now, end - now < run.warmGain else { return false }
        waiters[waiter].holdsUntil = end
        return true
    }

    /// The machine that will be the first to have room for this kind, if its runs end as expected.
    private func soonest(for kind: Int) -> Int? {
        let needs = kinds[kind].demand.needs
        func time(_ index: Int) -> Double {
            var free = entries[index].free
            for held in entries[index].runs.values.sorted(by: { $0.end < $1.end }) {
                free.add(entries[index].taken(by: held))
                if free.fits(needs) { return held.end }
            }
            return .infinity
        }
        return kinds[kind].machines.filter { entries[$0].machine.state == .ready }
            .map { (index: $0, time: time($0)) }.min { $0.time < $1.time }?.index
    }

    private mutating func kind(of demand: Demand) -> Int {
        if let known = kindOf[demand] { return known }
        kindOf[demand] = kinds.count
        kinds.append(Kind(demand, among: entries))
        return kinds.count - 1
    }
}

extension MachinePool.Entry {
    /// Counts again what is free.
    mutating func refresh() {
        free = FreeCapacity(slots: machine.slots, cpus: machine.cpus, memory: machine.memory)
        firstEnd = runs.values.map(\.end).min()
        for held in runs.values {
            let needs = taken(by: held)
            free.slots -= 1
            free.cpus -= needs.cpus ?? 0
            free.memory -= needs.memory ?? 0
        }
    }

    /// What another run can't have because of this one, besides a slot.
    func taken(by held: MachinePool.Held) -> MachineNeeds { machine.isCluster ? MachineNeeds() : held.needs }
}

extension FreeCapacity {
    fileprivate mutating func add(_ needs: MachineNeeds) {
        slots += 1
        cpus += needs.cpus ?? 0
        memory += needs.memory ?? 0
    }
}
