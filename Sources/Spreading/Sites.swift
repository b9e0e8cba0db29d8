import Concurrency
import Engine
import MachinePool
import Pipeline
import PlanRules
import Results
import Synchronization
import Workspaces

/// The other machines on which steps of one run may run. A place that is idle is kept for the next step, and all are
/// given back with the run.
final class Sites: StepSites {
    let own: any OpenPlace
    let cargo: Cargo
    let machines: any StepMachines
    private let moves: StepMoves
    private let isEager: Bool
    /// The steps of which another machine is to check what the run's own machine has proved.
    private let checks: Set<String>
    private let orders: AsyncStream<Site>
    private let order: AsyncStream<Site>.Continuation
    private let state = Mutex(State())

    private struct State {
        /// By machine, those that further steps may use.
        var shared: [String: Site] = [:]
        var all: [Site] = []
        var isClosed = false
        /// Steps that stay on the run's machine from now on.
        var staying: Set<String> = []
        /// How many steps run on the run's machine, and how many wait for others.
        var running = 0
        var waiting = 0
        var rests = false
    }

    init(
        own: any OpenPlace, cargo: Cargo, machines: any StepMachines, moves: StepMoves, isEager: Bool,
        checks: Set<String>
    ) {
        (self.own, self.cargo, self.machines) = (own, cargo, machines)
        (self.moves, self.isEager, self.checks) = (moves, isEager, checks)
        (orders, order) = AsyncStream<Site>.makeStream()
    }

    func reach(of step: PlannedStep) -> StepReach {
        guard moves.mayMove(step) else { return .own }
        if !machines.own.missing(step.machine ?? MachineNeeds()).isEmpty { return .other }
        // A resource is not held by a step that waits for a machine.
        guard isEager, step.resources.isEmpty, !state.withLock({ $0.staying.contains(step.name) }) else { return .own }
        return checks.contains(step.name) ? .rather : .either
    }

    func hold(
        _ step: PlannedStep, _ rules: OutputRules, _ stop: StopSignal, say: @escaping @Sendable (String) -> Void
    ) async throws -> any StepSite {
        let reason: LeaveReason =
            switch reach(of: step) {
            case .other: .needs
            case .rather: .check
            case .either, .own: .room
            }
        let isForced = reason == .needs
        if isForced { count(waiting: 1) }
        defer { if isForced { count(waiting: -1) } }
        let held = try await machines.hold(step, because: reason, stop, say: say)
        let site = HeldSite(sites: self, held: held, step: step, rules: rules)
        // Until the place is there, a slot of the run's own machine may be free first. The place is for later steps then.
        if !isForced {
            do { try await site.open(stop) } catch {
                await site.leave()
                throw error
            }
        }
        return site
    }

    func note(_ outputs: StoredOutputs, of step: PlannedStep) { cargo.note(outputs, of: step.name) }

    /// Keeps a step on the run's machine.
    func keepHere(_ step: PlannedStep) { state.withLock { _ = $0.staying.insert(step.name) } }

    /// Counts the steps that run on the run's machine and those that wait for others. If there are only such, what the run
    /// holds is free for others meanwhile: otherwise two runs could wait for each other's machine.
    func count(own running: Int = 0, waiting: Int = 0) {
        state.withLock { state in
            state.running += running
            state.waiting += waiting
            let rests = state.running == 0 && state.waiting > 0
            guard rests != state.rests else { return }
            state.rests = rests
            machines.rest(rests)
        }
    }

    // MARK: Places

    /// The place on a machine, which is ordered if there is none yet.
    ///
    /// - Throws: `CancellationError` if the run has ended.
    func site(on held: HeldMachine) throws -> Site {
        try state.withLock { state in
            if state.isClosed { throw CancellationError() }
            let name = held.machine.name
            if held.isShared, let known = state.shared[name], !known.isOver { return known }
            let site = Site(held)
            // A cancelled run opens no further places.
            guard case .enqueued = order.yield(site) else { throw CancellationError() }
            if held.isShared { state.shared[name] = site }
            state.all.append(site)
            return site
        }
    }

    /// Opens the places that are ordered, until ``close()`` is called and all of them are given back.
    func serve() async {
        await withDiscardingTaskGroup { group in
            for await site in orders {
                group.addTask { await self.serve(site) }
            }
        }
    }

    private func serve(_ site: Site) async {
        defer {
            if !site.held.isShared { machines.leave(site.held) }
            site.close()
        }
        let plan = plan(for: site.held)
        do {
            let provided = try await machines.provide(site.held, for: plan, site.ending)
            do {
                _ = try await provided.place.open(for: plan) { place in
                    site.open(place)
                    await site.untilEnding()
                }
            } catch {
                site.fail(StepSiteProblem("\(site.held.machine.name): \(error)", isOfMachine: true))
                return await provided.abandon()
            }
            await provided.close(hasPassed: false, isAllEnded: true).release(nil)
        } catch {
            site.fail(error)
        }
    }

    /// The steps that may run at a place.
    private func plan(for held: HeldMachine) -> Plan {
        var plan = cargo.plan
        plan.steps = plan.steps.filter {
            moves.mayMove($0) && held.machine.missing($0.machine ?? MachineNeeds()).isEmpty
        }
        return plan
    }

    /// Asks for the end of all places.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            return state.all
        }
        order.finish()
        for site in all { site.end() }
    }
}
