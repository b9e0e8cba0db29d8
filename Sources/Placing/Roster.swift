import Foundation
import MachinePool

/// The machines that runs can have now: that of the daemon, and those of the list, with what is known of their reach.
///
/// A value: it reads no clock and no file. Times are seconds of a clock that only goes forward.
struct Roster: Sendable {
    /// What is known of a machine that could not be used.
    private struct Outage: Sendable {
        var reason: String
        var since: Date
        /// It is tried again then.
        var until: Double
        /// How long it was left alone the last time.
        var pause: Double
        /// How many runs it had when it could not be used; one more may try it.
        var others: Int
    }

    /// Why a run does nothing on its machine for a while.
    enum RestReason: Sendable {
        case waitsForPerson
        /// Its steps wait for other machines.
        case waitsForMachines
    }

    private struct Rest: Sendable {
        var machine: String
        var reasons: Set<RestReason>
    }

    /// How long a machine is left alone after the first failure, and at most; each failure doubles it.
    static let pauses = (first: 15.0, longest: 300.0)

    /// The machine of the daemon.
    let here: Machine
    private(set) var pool: MachinePool
    private var listed: [String: Machine] = [:]
    /// Machines that were removed from the list while they had runs.
    private var leaving: Set<String> = []
    private var outages: [String: Outage] = [:]
    /// Clusters of which no node can be used, and why.
    private var closed: [String: String] = [:]
    /// What the pool was told of each machine.
    private var told: [String: Machine] = [:]
    /// Runs that have a machine or wait for one.
    private var runs: [Int: WaitingRun] = [:]
    /// Runs that take no slot of their machine at the moment.
    private var resting: [Int: Rest] = [:]
    /// How many runs the other machines can have now.
    private(set) var otherSlots = 0

    init(here: Machine) {
        self.here = here
        pool = MachinePool([here])
    }

    // MARK: Machines

    /// Whether there is a machine besides that of the daemon.
    var hasOthers: Bool { !listed.isEmpty }

    /// Takes over a list of machines.
    mutating func take(_ machines: [Machine], now: Double) {
        let names = Set(machines.map(\.name))
        for name in listed.keys where !names.contains(name) {
            (listed[name], outages[name], closed[name]) = (nil, nil, nil)
            leaving.insert(name)
        }
        for machine in machines {
            let old = listed.updateValue(machine, forKey: machine.name)
            leaving.remove(machine.name)
            // A person who changes it, or ends its draining, wants it to be tried at once.
            if let old, old.address != machine.address || old.state != machine.state { outages[machine.name] = nil }
            if let old, old.address != machine.address { closed[machine.name] = nil }
        }
        refresh(now: now)
    }

    /// Makes the pool know what has changed with time.
    mutating func refresh(now: Double) {
        for name in leaving { leave(name) }
        // In one order, so that equal machines are taken in that order.
        for (name, machine) in listed.sorted(by: { $0.key < $1.key }) { tell(effective(machine, now: now), as: name) }
        otherSlots = told.values.reduce(0) { $0 + ($1.state == .ready ? $1.slots : 0) }
    }

    private mutating func leave(_ name: String) {
        if pool.runs(on: name).isEmpty {
            pool.remove(name)
            (told[name], _) = (nil, leaving.remove(name))
        } else if var machine = told[name] {
            machine.state = .draining
            tell(machine, as: name)
        }
    }

    private mutating func tell(_ machine: Machine, as name: String) {
        guard told[name] != machine else { return }
        told[name] = machine
        pool.add(machine)
    }

    private func effective(_ machine: Machine, now: Double) -> Machine {
        var machine = machine
        if machine.state == .draining { return machine }
        machine.state = closed[machine.name].map { .unreachable($0) } ?? .ready
        guard let outage = outages[machine.name] else { return machine }
        if now < outage.until {
            machine.state = .unreachable(closed[machine.name] ?? outage.reason)
        } else {
            machine.slots = min(machine.slots, outage.others + 1)
        }
        return machine
    }

    /// Notes why no node of a cluster can be used; nil if one can.
    ///
    /// - Returns: Whether it was otherwise before.
    mutating func note(outage: String?, of name: String, now: Double) -> Bool {
        guard listed[name] != nil else { return false }
        let isNews = (closed[name] == nil) != (outage == nil)
        closed[name] = outage
        refresh(now: now)
        return isNews
    }

    /// Notes that a machine could not be used.
    ///
    /// - Returns: Whether that is news.
    mutating func lose(_ name: String, reason: String, at date: Date, now: Double) -> Bool {
        guard listed[name] != nil else { return false }
        var outage =
            outages[name] ?? Outage(reason: reason, since: date, until: -.infinity, pause: 0, others: 0)
        let isNew = outage.pause == 0
        outage.reason = reason
        // Of several runs that lose it at the same time, one counts.
        if now >= outage.until {
            outage.pause = min(max(outage.pause * 2, Roster.pauses.first), Roster.pauses.longest)
            outage.until = now + outage.pause
        }
        outage.others = pool.runs(on: name).count
        outages[name] = outage
        refresh(now: now)
        return isNew
    }

    /// Notes that a run has its place on a machine.
    ///
    /// - Returns: Whether that is news.
    mutating func reach(_ name: String, now: Double) -> Bool {
        let isNew = outages.removeValue(forKey: name) != nil
        refresh(now: now)
        return isNew
    }

    // MARK: Runs

    /// Adds a run that needs a machine.
    ///
    /// - Returns: The machine if there is nothing to choose: where there is only that of the daemon, the scheduler has
    ///   decided already.
    mutating func add(_ run: WaitingRun, now: Double) -> Machine? {
        runs[run.id] = run
        // A run that has lost its machine asks again: it must not wait for the slot that it had there.
        pool.end(run.id)
        guard !hasOthers, run.fits(here) else {
            pool.enqueue(run)
            return nil
        }
        pool.occupy(here.name, by: run, now: now)
        return here
    }

    /// Notes that a run is on a machine already; nil if the machine is unknown.
    mutating func occupy(_ name: String, by run: WaitingRun, now: Double) -> Machine? {
        guard let machine = told[name], listed[name] != nil else { return nil }
        runs[run.id] = run
        pool.occupy(name, by: run, now: now)
        return machine
    }

    /// Gives a waiting run a machine; nil if none can start now.
    mutating func next(now: Double) -> (run: Int, machine: Machine)? {
        guard let found = pool.next(now: now) else { return nil }
        return (found.run, told[found.machine] ?? here)
    }

    /// Why a run has no machine now; nil if it could have one.
    func obstacle(to run: WaitingRun) -> MachineObstacle? { pool.obstacle(to: run.needs, within: run.scope) }

    /// Notes whether a machine has a snapshot.
    mutating func note(_ snapshot: String, on machine: String, isThere: Bool) {
        pool.note(snapshot: snapshot, on: machine, isThere: isThere)
    }

    /// Notes that a run does not wait any more, or has left its machine.
    mutating func remove(_ run: Int, now: Double) {
        guard runs.removeValue(forKey: run) != nil else { return }
        resting[run] = nil
        pool.cancel(run)
        pool.end(run)
        refresh(now: now)
    }

    /// Notes that a run does nothing on its machine for a while, or goes on. While it waits for a person, it keeps its slot
    /// on another machine than the daemon's.
    mutating func rest(_ run: Int, _ rests: Bool, _ reason: RestReason, now: Double) {
        guard let known = runs[run] else { return }
        if rests {
            guard let machine = resting[run]?.machine ?? pool.machine(of: run),
                reason == .waitsForMachines || machine == here.name
            else { return }
            pool.end(run)
            resting[run, default: Rest(machine: machine, reasons: [])].reasons.insert(reason)
        } else if let rest = resting[run], rest.reasons.contains(reason) {
            resting[run]?.reasons.remove(reason)
            guard rest.reasons == [reason] else { return }
            resting[run] = nil
            // Its machine may have another run by now. That is a little more than it should have, for a while.
            pool.occupy(rest.machine, by: known, now: now)
        }
    }

    /// The runs that a machine has, and those of which it has steps.
    private func runs(on name: String) -> [Int] { Set(pool.runs(on: name).map { runs[$0]?.partOf ?? $0 }).sorted() }

    // MARK: What people see

    /// A machine as people see it.
    struct Sight: Sendable, Equatable {
        var machine: Machine
        var runs: [Int]
        var free: Int
        /// Why it is not used, as the rest of a sentence; nil if it may be.
        var reason: String?
    }

    /// The machines, that of the daemon first.
    func sights(now: Double) -> [Sight] {
        pool.machines.map { machine in
            var shown = listed[machine.name] ?? machine
            shown.state = machine.state
            var sight = Sight(
                machine: shown, runs: runs(on: machine.name),
                free: max(pool.free(on: machine.name)?.slots ?? 0, 0),
                reason: pool.reason(against: machine.name))
            if leaving.contains(machine.name) { sight.reason = "it was removed, and its runs end" }
            if let outage = closed[machine.name], machine.state != .draining {
                sight.reason = outage
            } else if let outage = outages[machine.name], machine.state != .draining {
                let rest = max(outage.until - now, 0)
                sight.reason =
                    "it can't be reached since \(outage.since.formatted(.iso8601)): \(outage.reason)"
                    + (outage.reason.hasSuffix(".") ? " " : ". ")
                    + (rest > 0 ? "It is tried again in \(Int(rest.rounded(.up))) s." : "The next run tries it.")
            }
            return sight
        }
    }
}
