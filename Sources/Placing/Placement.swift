import Concurrency
package import Control
import DaemonLog
import Foundation
package import Logging
package import MachineList
package import MachinePool
import Pipeline
package import Results
import Synchronization
package import Workspaces

/// Gives runs their machines: the only place that knows which run is on which machine.
///
/// It reads the list of machines again when its bytes have changed, so commands that change it need not ask the daemon.
package final class Placement: Sendable {
    private struct State {
        var roster: Roster
        /// Machines that waiting runs got and have not taken yet.
        var granted: [Int: Machine] = [:]
        var sleepers: [Int: CheckedContinuation<Void, Never>] = [:]
        var isClosed = false
        /// How many steps have had a number.
        var steps = 0
        /// Why the list can't be read.
        var problem: String?
        /// The list's bytes when it was last read; nil if there is none.
        var bytes: Data?
        var readAt: ContinuousClock.Instant?
    }

    private let list: MachineList
    private let log: Logger
    private let begin = ContinuousClock.now
    private let state: Mutex<State>
    /// How often the list is looked at.
    private static let period = Duration.seconds(1)

    /// - Parameter slots: How many runs the daemon's own machine may have at a time.
    package init(_ list: MachineList, slots: Int, log: Logger) {
        (self.list, self.log) = (list, log)
        state = Mutex(State(roster: Roster(here: ThisMachine.machine(slots: slots))))
    }

    private var now: Double { (ContinuousClock.now - begin) / .seconds(1) }

    // MARK: The list

    /// Reads the list if it has changed.
    ///
    /// - Parameter isPatient: Whether it is read a second after the last time at the earliest.
    package func refresh(isPatient: Bool = true) async {
        let now = ContinuousClock.now
        let isDue = state.withLock { state in
            if isPatient, let last = state.readAt, now - last < Placement.period { return false }
            state.readAt = now
            return true
        }
        guard isDue else { return }
        let read: Result<Data?, any Error>
        do { read = .success(try await offThread { [list] in try list.bytes() }) } catch { read = .failure(error) }
        take(read)
        settle()
    }

    private func take(_ read: Result<Data?, any Error>) {
        let news: String?? = state.withLock { state in
            let before = state.problem
            do {
                let bytes = try read.get()
                guard bytes != state.bytes || state.problem != nil else { return nil }
                state.roster.take(try list.machines(in: bytes), now: now)
                (state.bytes, state.problem) = (bytes, nil)
            } catch {
                // What was known before still holds.
                state.problem = "\(error)"
            }
            return before == state.problem ? nil : .some(state.problem)
        }
        switch news {
        case .some(.some(let problem)):
            log.error("the list of machines stays as it was: \(problem)", metadata: .code(.machinesUnreadable))
        case .some(.none): log.notice("the list of machines can be read again", metadata: .code(.machinesReadable))
        case .none: break
        }
    }

    /// Whether there is a machine besides that of the daemon.
    var hasOthers: Bool { state.withLock { $0.roster.hasOthers } }

    /// How many runs the other machines can have now.
    package var otherSlots: Int { state.withLock { $0.roster.otherSlots } }

    // MARK: Runs

    /// Waits until a run has a machine.
    ///
    /// - Throws: ``PlaceUnavailable`` if no machine could ever run it, ``PlaceWaitEnd``, `CancellationError`. The run
    ///   has none then.
    package func machine(for run: WaitingRun, _ wait: PlaceWait) async throws -> Machine {
        // Who has drained a machine a moment ago wants no further run there.
        await refresh(isPatient: false)
        let number = wait.stop.onStop { _ in self.wake(run.id) }
        defer { wait.stop.removeHandler(number) }
        state.withLock { state in
            if let machine = state.roster.add(run, now: now) { state.granted[run.id] = machine }
        }
        settle()
        var said: String?
        while true {
            switch look(at: run, wait.stop) {
            case .success(.machine(let machine)): return machine
            case .success(.waits(let reason)):
                if reason != said { wait.say(.waits(reason)) }
                said = reason
            case .failure(let error):
                leave(run.id)
                throw error
            }
            await sleep(run, wait.stop)
            await refresh()
            settle()
        }
    }

    /// Gives a run a machine although nobody asked whether there is room: its steps are there already. Nil if the machine
    /// is unknown.
    func take(_ name: String, for run: WaitingRun) -> Machine? {
        state.withLock { state in
            state.roster.remove(run.id, now: now)
            return state.roster.occupy(name, by: run, now: now)
        }
    }

    private enum Sight {
        case machine(Machine)
        case waits(String)
    }

    private func look(at run: WaitingRun, _ stop: StopSignal) -> Result<Sight, any Error> {
        let isCancelled = Task.isCancelled
        return state.withLock { state in
            let machine = state.granted.removeValue(forKey: run.id)
            if let request = stop.request { return .failure(PlaceWaitEnd.stopped(request)) }
            if isCancelled { return .failure(CancellationError()) }
            if let machine { return .success(.machine(machine)) }
            // The daemon waits for runs that have begun, and their steps for machines.
            if state.isClosed, run.partOf == nil { return .failure(PlaceWaitEnd.shutdown) }
            let found = state.roster.obstacle(to: run)
            if run.patience == .none || run.patience == .untilFree && found.map({ $0.code != .busy }) ?? false {
                let reason = found?.description ?? "no machine is free"
                return .failure(PlaceWaitEnd.stopped(StopRequest(.cancelled, reason: reason)))
            }
            guard let obstacle = found else { return .success(.waits("it waits for its turn")) }
            guard obstacle.isFinal else { return .success(.waits(obstacle.description)) }
            // Nothing is concluded from a list that can't be read.
            if let problem = state.problem { return .success(.waits(problem)) }
            return .failure(PlaceUnavailable(reason: obstacle.description))
        }
    }

    /// Why no machine could ever have what is needed, as a sentence; nil if one could, or if that is not known.
    func impossibility(of needs: MachineNeeds) async -> String? {
        await refresh()
        return state.withLock { state in
            // Nothing is concluded from a list that can't be read.
            guard state.problem == nil, let obstacle = state.roster.pool.obstacle(to: needs), obstacle.isFinal else {
                return nil
            }
            return obstacle.description
        }
    }

    /// A number for a step that needs a machine of its own. No run has it.
    func takeStepNumber() -> Int {
        state.withLock { state in
            state.steps += 1
            return -state.steps
        }
    }

    /// Notes that a run has left its machine, or does not want one any more.
    package func leave(_ run: RunID) { leave(Int(run)) }

    func leave(_ run: Int) {
        state.withLock { state in
            state.granted[run] = nil
            state.roster.remove(run, now: now)
        }
        settle()
    }

    /// Notes whether runs of a line would start from a snapshot on a machine.
    func note(_ line: String, on machine: String, isThere: Bool) {
        state.withLock { $0.roster.note(line, on: machine, isThere: isThere) }
    }

    /// Notes that a run waits for a person, or goes on: meanwhile it takes no slot of the daemon's machine.
    package func rest(_ run: RunID, _ rests: Bool) { rest(run, rests, .waitsForPerson) }

    func rest(_ run: RunID, _ rests: Bool, _ reason: Roster.RestReason) {
        state.withLock { $0.roster.rest(Int(run), rests, reason, now: now) }
        if rests { settle() }
    }

    /// Notes why no run can start on any node of a cluster, as the rest of a sentence; nil if one can.
    func note(outage: String?, of cluster: String) {
        guard state.withLock({ $0.roster.note(outage: outage, of: cluster, now: now) }) else { return }
        if let outage {
            log.warning("machine \(cluster) can't be used for now: \(outage)", metadata: .code(.machineLost))
        } else {
            log.notice("machine \(cluster) can be used again", metadata: .code(.machineBack))
        }
        settle()
    }

    /// Notes that a machine could not be used.
    func lose(_ machine: String, reason: String) {
        let isNew = state.withLock { $0.roster.lose(machine, reason: reason, at: Date(), now: now) }
        let text = "machine \(machine) can't be used for now: \(reason)"
        if isNew {
            log.warning("\(text)", metadata: .code(.machineLost))
        } else {
            log.info("\(text)", metadata: .code(.machineLost))
        }
        settle()
    }

    /// Notes that a run has its place on a machine.
    func reach(_ machine: String) {
        guard state.withLock({ $0.roster.reach(machine, now: now) }) else { return }
        log.notice("machine \(machine) can be used again", metadata: .code(.machineBack))
        settle()
    }

    /// Ends all present and future waits: the daemon shuts down. Runs that need not wait still get their machine.
    package func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            defer { state.sleepers = [:] }
            return Array(state.sleepers.values)
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// The machines and what they do; without other machines, none.
    package var uses: [MachineUse] {
        state.withLock { state in
            guard state.roster.hasOthers else { return [] }
            return state.roster.sights(now: now).map { sight in
                var use = MachineUse(sight.machine, reason: sight.reason)
                (use.free, use.runs) = (sight.free, sight.runs.map { RunID($0) })
                return use
            }
        }
    }

    // MARK: Waiting

    /// Gives machines to runs that can have one.
    private func settle() {
        let sleepers = state.withLock { state in
            state.roster.refresh(now: now)
            var woken: [CheckedContinuation<Void, Never>] = []
            while let (run, machine) = state.roster.next(now: now) {
                state.granted[run] = machine
                if let sleeper = state.sleepers.removeValue(forKey: run) { woken.append(sleeper) }
            }
            return woken
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    private func wake(_ run: Int) { state.withLock { $0.sleepers.removeValue(forKey: run) }?.resume() }

    /// Waits until there may be news for a run, for a second at most: time passes, and the list may change.
    private func sleep(_ run: WaitingRun, _ stop: StopSignal) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.untilWoken(run, stop) }
            group.addTask { try? await Task.sleep(for: Placement.period) }
            await group.next()
            group.cancelAll()
        }
    }

    private func untilWoken(_ run: WaitingRun, _ stop: StopSignal) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = Task.isCancelled
                // Checked under the lock: what comes later finds the sleeper.
                let isOver = state.withLock { state in
                    guard !isCancelled, stop.request == nil, !state.isClosed || run.partOf != nil,
                        state.granted[run.id] == nil
                    else { return true }
                    state.sleepers[run.id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            wake(run.id)
        }
    }
}
