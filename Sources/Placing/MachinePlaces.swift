import Concurrency
import Engine
package import MachinePool
import Machines
import Pipeline
import PlanRules
import Results
import Spreading
import Synchronization
import SystemPackage
package import Workspaces

/// Prepares places on the machine that a run gets: the daemon's, or another one.
package struct MachinePlaces: PlaceProvider {
    private let here: any PlaceProvider
    let placement: Placement
    private let reach: any MachineReach
    /// Whether unmerged code may run where there is no sandbox.
    private let allowsUnsandboxed: Bool
    /// Decides about snapshots of other machines; nil if they get none.
    private let snapshots: OtherSnapshots?
    private let expected: @Sendable (PreparedRun) async -> ExpectedTime?

    /// - Parameters:
    ///   - here: Prepares places on the daemon's machine.
    ///   - expected: How long a run will take, if that is known. It is asked only where there are machines to choose from.
    package init(
        here: any PlaceProvider, placement: Placement, reach: any MachineReach, allowsUnsandboxed: Bool,
        snapshots: OtherSnapshots? = nil,
        expected: @escaping @Sendable (PreparedRun) async -> ExpectedTime? = { _ in nil }
    ) {
        (self.here, self.placement, self.reach) = (here, placement, reach)
        (self.allowsUnsandboxed, self.snapshots, self.expected) = (allowsUnsandboxed, snapshots, expected)
    }

    package func skip(_ run: PreparedRun) async { await here.skip(run) }

    package func isWarm(_ run: PreparedRun) async -> Bool { await here.isWarm(run) }

    package func end(_ trace: PlaceTrace) async { await reach.end(trace) }

    package func provide(_ order: PlaceOrder) async throws -> any ProvidedPlace {
        if let trace = order.wait.adopts { return try await adopt(trace, order) }
        let own = ThisMachine.machine(slots: 1)
        let plan = order.run.plan
        await placement.refresh()
        let moves = order.run.maySpread && placement.hasOthers ? StepMoves(plan) : nil
        var needs = plan.machineNeeds
        if let moves, !own.missing(needs).isEmpty {
            needs = moves.needs(of: plan) { own.missing($0).isEmpty }
            try await check(plan, moves)
        }
        let fitsHere = own.missing(needs).isEmpty
        // Runs for which nobody waits start when the daemon's machine is idle, and take no slot of it.
        let wanted = order.run.run.request.options.machine
        if order.run.run.request.background != nil, fitsHere, wanted == nil {
            return try await place(order, on: own, moves)
        }
        var excluded: Set<String> = []
        let bound = RemotePlaces.obstacle(to: order.run)
        if let bound, !fitsHere { throw MachinePlaces.unavailable(needs, own, bound) }
        let time = placement.hasOthers ? await expected(order.run) : nil
        if placement.hasOthers, let line = order.line {
            placement.note(line, on: own.name, isThere: await here.isWarm(order.run))
        }
        var (refusal, losses): (PlaceUnavailable?, Int) = (nil, 0)
        while true {
            let scope = bound == nil ? wanted.map(MachineScope.only) ?? .allBut(excluded) : .only(own.name)
            let machine: Machine
            do {
                machine = try await placement.machine(
                    for: order.waiting(needs, scope, time), order.wait)
            } catch let error as PlaceUnavailable {
                throw refusal ?? MachinePlaces.explained(error, plan, moves)
            }
            do {
                let place = try await place(order, on: machine, moves)
                order.wait.say(.placed(machine.address == .here ? nil : machine.name))
                return place
            } catch {
                placement.leave(order.run.run.id)
                if machine.address == .here || MachinePlaces.isOwn(error) { throw error }
                // It may run on another machine.
                if let problem = error as? PlaceUnavailable {
                    if wanted != nil { throw problem }
                    (refusal, _) = (problem, excluded.insert(machine.name))
                    continue
                }
                losses += 1
                if losses == mostLosses {
                    throw PlaceUnavailable(reason: "it was given a machine \(losses) times and got no place. \(error)")
                }
            }
        }
    }

    /// How often a run may lose a machine before it has its place there: with the pauses of ``Roster``, that is about a day
    /// for a single machine.
    var mostLosses = 300

    /// Whether a machine must be what the list says of its system and processor; tests have machines that only pretend.
    package var checksKind = true
    /// How often a run tries the only node of a cluster that it can have, and how long it waits in between.
    var mostRounds = 20
    var nodePause = Duration.seconds(60)

    /// Makes sure that each step which may leave the run's machine fits on one of the machines.
    private func check(_ plan: Plan, _ moves: StepMoves) async throws {
        var seen: Set<MachineNeeds> = []
        for step in plan.steps {
            guard let needs = step.machine, moves.mayMove(step), seen.insert(needs).inserted,
                let reason = await placement.impossibility(of: needs)
            else { continue }
            throw PlaceUnavailable(reason: "step \"\(step.name)\": \(reason)")
        }
    }

    /// Says why the steps of a run can't be on several machines, if that would help.
    private static func explained(_ problem: PlaceUnavailable, _ plan: Plan, _ moves: StepMoves?) -> PlaceUnavailable {
        let step = moves?.bound(in: plan).last { $0.machine?.isEmpty == false }
        guard let step, let obstacle = moves?.obstacle(to: step) else { return problem }
        return PlaceUnavailable(
            reason: "\(problem.reason) Step \"\(step.name)\" stays on the machine of the run, because it \(obstacle).")
    }

    /// Prepares the place of a run on a machine, whose steps may also run on others.
    private func place(_ order: PlaceOrder, on machine: Machine, _ moves: StepMoves?) async throws -> any ProvidedPlace
    {
        let plan = order.run.plan
        func fits(_ step: PlannedStep) -> Bool { machine.missing(step.machine ?? MachineNeeds()).isEmpty }
        var order = order
        order.needs = plan.steps.filter(fits).reduce(MachineNeeds()) { needs, step in
            step.machine.map(needs.and) ?? needs
        }
        let place = try await provide(order, on: machine)
        guard let moves else { return place }
        // Nobody waits for these, so they take no other machine without need. Of a machine whose processor is unknown,
        // nobody knows which others are like it.
        let isEager = order.run.run.request.background == nil && plan.steps.count > 1 && machine.isKindKnown
        guard isEager && plan.steps.contains(where: moves.mayMove) || !plan.steps.allSatisfy(fits) else { return place }
        let checks = StepChecks()
        let spread = SpreadPlace(
            place.place, machines: RunMachines(places: self, order: order, own: machine), moves: moves,
            isEager: isEager, folder: FilePath(order.directories.folder).appending("moved"), checks: checks)
        // Without the other machines, whoever takes it over must be able to run all steps there.
        return PlaceAround(
            inner: place, place: spread, trace: plan.steps.allSatisfy(fits) ? place.trace : nil, checks: checks)
    }

    /// Prepares a place on a machine.
    ///
    /// - Throws: ``PlaceUnavailable`` if another machine may do; after any other error the machine is left alone for a
    ///   while, unless it is the daemon's or the run itself is the reason.
    func provide(_ order: PlaceOrder, on machine: Machine) async throws -> any ProvidedPlace {
        guard machine.address != .here else { return try await here.provide(order) }
        do {
            let place = try await bring(order, to: machine)
            placement.reach(machine.name)
            return PlaceAround(
                inner: place, place: place.place, trace: place.trace, elsewhere: (machine.name, placement))
        } catch {
            if !MachinePlaces.isOwn(error), !(error is PlaceUnavailable) {
                placement.lose(machine.name, reason: "\(error)")
            }
            throw error
        }
    }

    /// Takes over the place that a run has on another machine. It does not wait there for its turn, and its steps stay
    /// there.
    private func adopt(_ trace: PlaceTrace, _ order: PlaceOrder) async throws -> any ProvidedPlace {
        let needs = order.run.plan.machineNeeds
        var order = order
        order.needs = needs
        await placement.refresh()
        let run = order.waiting(needs, .only(trace.machine), nil)
        do {
            guard let machine = placement.take(trace.machine, for: run) else {
                throw PlaceNotAdopted(reason: "\(trace.machine) is not in the list of machines any more")
            }
            let place = try await bring(order, to: machine)
            order.wait.say(.placed(machine.name))
            return PlaceAround(
                inner: place, place: place.place, trace: place.trace, elsewhere: (machine.name, placement))
        } catch {
            placement.leave(order.run.run.id)
            await reach.end(trace)
            if MachinePlaces.isOwn(error) { throw error }
            throw PlaceNotAdopted(reason: "\(error)")
        }
    }

    /// Whether no other machine would help.
    static func isOwn(_ error: any Error) -> Bool {
        error is CancellationError || error is PlaceWaitEnd || error is CommitTransferProblem
    }

    private static func unavailable(_ needs: MachineNeeds, _ own: Machine, _ bound: String) -> PlaceUnavailable {
        PlaceUnavailable(
            reason: "its steps need \(needs.words.joined(separator: ", ")), but of this machine "
                + "\(own.missing(needs).joined(separator: " and ")), and no other machine can run it: \(bound).")
    }

    /// Prepares the place on another machine, until it is there or the run is stopped. If that fails on a node of a cluster,
    /// others are tried: the cluster is to blame only if it fails on several.
    private func bring(_ order: PlaceOrder, to machine: Machine) async throws -> any ProvidedPlace {
        if order.part == 0 { order.wait.say(.brought(to: machine.name)) }
        var nodes = TriedNodes()
        var last: (any Error)?
        var rounds = 0
        while true {
            do { return try await bring(order, to: machine, nodes) } catch let problem as PlaceUnavailable {
                // There is no other node for it.
                guard let last else { throw problem }
                if nodes.failed.count > 1 { throw last }
                // The cluster is good for others. This run waits for its node.
                rounds += 1
                guard rounds < mostRounds else { throw PlaceUnavailable(reason: "\(last)") }
                order.wait.say(.waits("its only node of \(machine.name) failed: \(last)"))
                if let request = await pause(order.wait.stop) { throw PlaceWaitEnd.stopped(request) }
                nodes = TriedNodes()
            } catch {
                if MachinePlaces.isOwn(error) { throw error }
                guard nodes.fail() else { throw error }
                last = error
            }
        }
    }

    /// Waits before a node is tried again.
    ///
    /// - Returns: The request to stop, if one comes meanwhile.
    private func pause(_ stop: StopSignal) async -> StopRequest? {
        await withTaskGroup(of: StopRequest?.self) { [nodePause] group in
            group.addTask { await stop.wait() }
            group.addTask {
                try? await Task.sleep(for: nodePause)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func bring(
        _ order: PlaceOrder, to machine: Machine, _ nodes: TriedNodes
    ) async throws -> any ProvidedPlace {
        let held = Held()
        var places = RemotePlaces(
            link: try await reach.link(to: machine, for: order, nodes), machine: machine.name,
            allowsUnsandboxed: allowsUnsandboxed)
        // Of a cluster it has what was asked for, of a computer its share.
        let share = machine.isCluster ? 1 : machine.cpus / max(machine.slots, 1)
        places.steps = max(share, order.needs.cpus ?? 1)
        places.connected = { held.take($0) }
        if checksKind { places.kind = machine.traits }
        places.snapshots = snapshots
        // Which node an allocation will get, nobody knows.
        places.isOne = !machine.isCluster
        if places.isOne {
            places.warmed = { [placement] in placement.note($0.name, on: machine.name, isThere: $1) }
        }
        let stop = order.wait.stop
        return try await withThrowingTaskGroup(of: (any ProvidedPlace)?.self) { [places] group in
            group.addTask { try await places.provide(order) }
            group.addTask {
                if await stop.wait() != nil { await held.end() }
                return nil
            }
            var place = try await group.next() ?? nil
            group.cancelAll()
            if place == nil { place = try? await group.next() ?? nil }
            if let request = stop.request {
                await place?.abandon()
                throw PlaceWaitEnd.stopped(request)
            }
            guard let place else { throw CancellationError() }
            return place
        }
    }

    /// The connection while a place is prepared.
    private final class Held: Sendable {
        private let client = Mutex<MachineClient?>(nil)

        func take(_ new: MachineClient) { client.withLock { $0 = new } }
        func end() async { await client.withLock { $0 }?.end() }
    }
}

extension PlaceOrder {
    fileprivate func waiting(_ needs: MachineNeeds, _ scope: MachineScope, _ time: ExpectedTime?) -> WaitingRun {
        let request = run.run.request
        var waiting = WaitingRun(
            id: Int(run.run.id), owner: request.repository, needs: needs, scope: scope, snapshot: line ?? "",
            seconds: time?.seconds ?? 60, warmGain: line == nil ? 0 : time?.warmGain ?? 0)
        // Nobody needs a snapshot on a machine that nobody uses.
        if request.options.machine != nil { waiting.patience = .untilFree }
        return waiting
    }

    /// Names the snapshots that the run can start from; nil if it starts from none.
    fileprivate var line: String? {
        let request = run.run.request
        guard let branch = request.branch, !request.beginsFromNothing else { return nil }
        return SnapshotLine(repository: request.repository, workflow: request.workflow, branch: branch).name
    }
}

/// How long a run is expected to take, by earlier runs of its workflow.
package struct ExpectedTime: Sendable, Equatable {
    /// Seconds, if it starts fresh.
    package var seconds: Double
    /// The seconds that it gains by a snapshot.
    package var warmGain: Double

    package init(seconds: Double, warmGain: Double = 0) { (self.seconds, self.warmGain) = (seconds, warmGain) }
}

/// A provided place with something around it.
private struct PlaceAround: ProvidedPlace {
    let inner: any ProvidedPlace
    let place: any RunPlace
    let trace: PlaceTrace?
    /// Another machine, whose loss the placement learns of.
    private let machine: (name: String, placement: Placement)?
    private let checks: StepChecks?

    init(
        inner: any ProvidedPlace, place: any RunPlace, trace: PlaceTrace?,
        elsewhere machine: (String, Placement)? = nil, checks: StepChecks? = nil
    ) {
        (self.inner, self.place, self.trace, self.checks) = (inner, place, trace, checks)
        self.machine = machine.map { (name: $0.0, placement: $0.1) }
    }

    var workspaceView: String? { inner.workspaceView }
    var resumption: Resumption? { inner.resumption }
    var findings: [Finding] { inner.findings }
    var delaysNextRun: Bool { inner.delaysNextRun }
    var elsewhere: OtherMachine? { inner.elsewhere }

    func close(hasPassed: Bool, isAllEnded: Bool) async -> any FinishedPlace {
        let finished = await inner.close(hasPassed: hasPassed, isAllEnded: isAllEnded)
        // A place that may be taken over is not lost yet.
        if let machine, let lost = finished.lost, finished.trace == nil {
            machine.placement.lose(machine.name, reason: lost)
        }
        return finished
    }

    func abandon() async { await inner.abandon() }
    func check(_ steps: Set<String>) { checks?.take(steps) }
}

extension PreparedRun {
    /// Whether its steps need not share one workspace with what was there before, and no agent works in it.
    fileprivate var maySpread: Bool {
        let request = run.request
        return request.resumes == nil && request.fix?.isMaking != true && request.task?.isOfAgent != true
    }
}
