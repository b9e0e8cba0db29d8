public import Pipeline
import Sandbox
import Synchronization

/// The slots and named resources of the daemon, shared by the steps of all runs.
///
/// Waiters are served in the order of their arrival, except that one that waits for a taken resource does not hold up
/// others that don't need it. Among the steps of one run, the run's own order decides: see ``Turn``.
///
/// Steps on other machines have slots of their own, see ``elsewhere(slots:)``, and share the resources.
public final class SlotPool: Sendable {
    /// The run that asks, and the rank of the step within it. A step may overtake steps of its own run, never those of
    /// another run.
    package struct Turn: Sendable {
        package var run: Int
        package var place: Int

        package init(run: Int, place: Int) { (self.run, self.place) = (run, place) }
    }

    private struct Waiter {
        /// Whose slot it waits for.
        var site: Int
        var turn: Turn
        var uses: [String: Need]
        /// Nil until somebody waits.
        var continuation: CheckedContinuation<Bool, Never>?
    }

    private struct Need {
        var units: Int
        /// The capacity: the daemon's setting, or else what the workflow declares.
        var capacity: Int
    }

    private struct State {
        /// By site; that of this machine is 0.
        var freeSlots: [Int: Int]
        var lastSite = 0
        var used: [String: Int] = [:]
        /// By ticket, in the order of arrival.
        var waiters: [Int: Waiter] = [:]
        var queue: [Int] = []
        var firstInQueue = 0
        var nextNumber = 0
        /// Tickets that were granted before anybody waited for them.
        var granted: Set<Int> = []
    }

    /// The number of steps that may run at a time.
    public let slots: Int
    private let capacities: [String: Int]
    private let site: Int
    private let shared: Shared

    /// What all sites have in common.
    private final class Shared: Sendable {
        let state: Mutex<State>

        init(_ state: State) { self.state = Mutex(state) }
    }

    /// - Parameters:
    ///   - slots: The number of steps that may run at a time, at least 1; capped by the number of file descriptors, see
    ///     ``OpenFiles/raiseLimit()``.
    ///   - capacities: Capacities of resources by the daemon's settings, which override what workflows declare.
    public init(slots: Int, capacities: [String: Int] = [:]) {
        self.slots = max(min(slots, OpenFiles.stepsThatFit), 1)
        self.capacities = capacities
        site = 0
        shared = Shared(State(freeSlots: [0: self.slots]))
    }

    private init(slots: Int, site: Int, of pool: SlotPool) {
        (self.slots, self.site) = (slots, site)
        (capacities, shared) = (pool.capacities, pool.shared)
    }

    /// The same resources with other slots, for the steps of one run on another machine.
    package func elsewhere(slots: Int) -> SlotPool {
        let site = shared.state.withLock { state in
            state.lastSite += 1
            state.freeSlots[state.lastSite] = max(slots, 1)
            return state.lastSite
        }
        return SlotPool(slots: max(slots, 1), site: site, of: self)
    }

    deinit {
        if site != 0 { shared.state.withLock { $0.freeSlots[site] = nil } }
    }

    /// Why a step that uses `uses` can't start now, as a sentence; nil if it can.
    public func obstacle(to uses: [ResourceUse]) -> String? {
        let needs = needs(of: uses)
        return shared.state.withLock { state in
            if state.freeSlots[site] ?? 0 <= 0 {
                return slots == 1 ? "the slot is busy" : "all \(slots) slots are busy"
            }
            let missing = needs.keys.sorted().first { name in
                needs[name].map { !SlotPool.fits($0, name, state) } ?? false
            }
            return missing.map { "waiting for \"\($0)\"" }
        }
    }

    /// Why `uses` can never be met by this daemon, as a sentence; nil if they can.
    public func impossibility(of uses: [ResourceUse]) -> String? {
        for (name, need) in needs(of: uses).sorted(by: { $0.key < $1.key }) where need.units > need.capacity {
            return "it uses \(need.units) of \"\(name)\" and the daemon has \(need.capacity)"
        }
        return nil
    }

    /// Releases what ``reserve(_:turn:)`` was granted.
    public func release(_ uses: [ResourceUse]) {
        let needs = needs(of: uses)
        serve { state in
            state.freeSlots[site]? += 1
            for (name, need) in needs { state.used[name, default: 0] -= need.units }
        }
    }

    /// Adds a step to the queue. Its task may start to wait later.
    ///
    /// - Returns: The ticket for ``wait(_:)``, which must be called unless ``giveUp(_:)`` was called before.
    package func reserve(_ uses: [ResourceUse], turn: Turn) -> Int {
        let needs = needs(of: uses)
        var ticket = 0
        serve { state in
            state.nextNumber += 1
            ticket = state.nextNumber
            state.waiters[ticket] = Waiter(site: site, turn: turn, uses: needs, continuation: nil)
            state.queue.append(ticket)
            SlotPool.settle(&state)
        }
        return ticket
    }

    /// Whether a reservation was granted already.
    package func isGranted(_ ticket: Int) -> Bool { shared.state.withLock { $0.granted.contains(ticket) } }

    /// Waits until the ticket is granted (true) or ``giveUp(_:)`` is called, now or earlier (false).
    package func wait(_ ticket: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let isGranted: Bool? = shared.state.withLock { state in
                if state.granted.remove(ticket) != nil { return true }
                guard state.waiters[ticket] != nil else { return false }
                state.waiters[ticket]?.continuation = continuation
                return nil
            }
            if let isGranted { continuation.resume(returning: isGranted) }
        }
    }

    /// Moves the last waiter forward, past those of its own run that rank after it.
    private static func settle(_ state: inout State) {
        var own = state.queue.count - 1
        guard let turn = state.waiters[state.queue[own]]?.turn else { return }
        for position in stride(from: own - 1, through: state.firstInQueue, by: -1) {
            guard let other = state.waiters[state.queue[position]]?.turn, other.run == turn.run else { continue }
            guard other.place > turn.place else { return }
            state.queue.swapAt(position, own)
            own = position
        }
    }

    /// The number of waiters.
    package var waiting: Int { shared.state.withLock { $0.waiters.count } }

    /// A number that no other run of this pool has.
    package func takeRunNumber() -> Int {
        shared.state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
    }

    /// Wakes a waiter without granting its ticket. It has no effect on a ticket that was granted.
    package func giveUp(_ ticket: Int) {
        var waiter: Waiter?
        // The waiter may have been the one that kept others from a resource, so others may be served now.
        serve { state in
            waiter = state.waiters.removeValue(forKey: ticket)
        }
        waiter?.continuation?.resume(returning: false)
    }

    private func needs(of uses: [ResourceUse]) -> [String: Need] {
        var needs: [String: Need] = [:]
        for use in uses {
            let name = use.resource.name
            let capacity = capacities[name] ?? use.resource.capacity
            needs[name] = Need(
                units: (needs[name]?.units ?? 0) + use.units, capacity: min(needs[name]?.capacity ?? .max, capacity))
        }
        return needs
    }

    private static func fits(_ need: Need, _ name: String, _ state: State) -> Bool {
        state.used[name, default: 0] + need.units <= need.capacity
    }

    private static func fits(_ needs: [String: Need], _ state: State) -> Bool {
        needs.allSatisfy { fits($1, $0, state) }
    }

    private static func take(_ needs: [String: Need], at site: Int, _ state: inout State) {
        state.freeSlots[site]? -= 1
        for (name, need) in needs { state.used[name, default: 0] += need.units }
    }

    /// Changes the state, then wakes all waiters whose ticket is granted by that.
    private func serve(after change: (inout State) -> Void) {
        let served = shared.state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            change(&state)
            var served: [CheckedContinuation<Bool, Never>] = []
            var wantedBefore: Set<String> = []
            var position = state.firstInQueue
            while position < state.queue.count && state.freeSlots.values.contains(where: { $0 > 0 }) {
                defer { position += 1 }
                guard let waiter = state.waiters[state.queue[position]] else {
                    if position == state.firstInQueue { state.firstInQueue += 1 }
                    continue
                }
                // Whoever waits for a slot of one machine does not hold up those on others.
                if state.freeSlots[waiter.site] ?? 0 <= 0 { continue }
                if wantedBefore.isDisjoint(with: waiter.uses.keys), SlotPool.fits(waiter.uses, state) {
                    SlotPool.take(waiter.uses, at: waiter.site, &state)
                    state.waiters[state.queue[position]] = nil
                    if position == state.firstInQueue { state.firstInQueue += 1 }
                    if let continuation = waiter.continuation {
                        served.append(continuation)
                    } else {
                        state.granted.insert(state.queue[position])
                    }
                } else {
                    wantedBefore.formUnion(waiter.uses.keys)
                }
            }
            if state.firstInQueue > 64, state.firstInQueue * 2 > state.queue.count {
                state.queue.removeFirst(state.firstInQueue)
                state.firstInQueue = 0
            }
            return served
        }
        for continuation in served { continuation.resume(returning: true) }
    }
}
