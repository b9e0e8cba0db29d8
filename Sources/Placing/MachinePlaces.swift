import Concurrency
import Engine
import MachinePool
import Machines
import Pipeline
import Results
import Synchronization
package import Workspaces

/// Prepares places on the machine that a run gets: the daemon's, or another one.
package struct MachinePlaces: PlaceProvider {
    private let here: any PlaceProvider
    private let placement: Placement
    private let reach: any MachineReach
    /// Whether unmerged code may run where there is no sandbox.
    private let allowsUnsandboxed: Bool
    private let expected: @Sendable (PreparedRun) async -> Double?

    /// - Parameters:
    ///   - here: Prepares places on the daemon's machine.
    ///   - expected: How long a run will take, in seconds, if that is known. It is asked only where there are machines to
    ///     choose from.
    package init(
        here: any PlaceProvider, placement: Placement, reach: any MachineReach, allowsUnsandboxed: Bool,
        expected: @escaping @Sendable (PreparedRun) async -> Double? = { _ in nil }
    ) {
        (self.here, self.placement, self.reach) = (here, placement, reach)
        (self.allowsUnsandboxed, self.expected) = (allowsUnsandboxed, expected)
    }

    package func skip(_ run: PreparedRun) async { await here.skip(run) }

    package func provide(_ order: PlaceOrder) async throws -> any ProvidedPlace {
        let own = ThisMachine.machine(slots: 1)
        let needs = order.run.plan.machineNeeds
        let fitsHere = own.missing(needs).isEmpty
        // Runs for which nobody waits start when the daemon's machine is idle, and take no slot of it.
        if order.run.run.request.background != nil, fitsHere { return try await here.provide(order) }
        var excluded: Set<String> = []
        let bound = RemotePlaces.obstacle(to: order.run)
        if let bound, !fitsHere { throw MachinePlaces.unavailable(needs, own, bound) }
        let seconds = placement.hasOthers ? await expected(order.run) : nil
        var refusal: PlaceUnavailable?
        while true {
            let scope = bound == nil ? MachineScope.allBut(excluded) : .only(own.name)
            let machine: Machine
            do {
                machine = try await placement.machine(
                    for: order.waiting(needs, scope, seconds: seconds ?? 60), order.wait)
            } catch {
                throw error is PlaceUnavailable ? refusal ?? error : error
            }
            do {
                guard machine.address != .here else {
                    order.wait.say(.placed(nil))
                    return try await here.provide(order)
                }
                let place = try await bring(order, needs, to: machine)
                placement.reach(machine.name)
                order.wait.say(.placed(machine.name))
                return PlaceElsewhere(place: place, machine: machine.name, placement: placement)
            } catch {
                placement.leave(order.run.run.id)
                if machine.address == .here || MachinePlaces.isOwn(error) { throw error }
                if let problem = error as? PlaceUnavailable {
                    // It may run on another machine.
                    refusal = problem
                    excluded.insert(machine.name)
                } else {
                    placement.lose(machine.name, reason: "\(error)")
                }
            }
        }
    }

    /// Whether no other machine would help.
    private static func isOwn(_ error: any Error) -> Bool {
        error is CancellationError || error is PlaceWaitEnd || error is CommitTransferProblem
    }

    private static func unavailable(_ needs: MachineNeeds, _ own: Machine, _ bound: String) -> PlaceUnavailable {
        PlaceUnavailable(
            reason: "its steps need \(needs.words.joined(separator: ", ")), but of this machine "
                + "\(own.missing(needs).joined(separator: " and ")), and no other machine can run it: \(bound).")
    }

    /// Prepares the place on another machine, until it is there or the run is stopped.
    private func bring(
        _ order: PlaceOrder, _ needs: MachineNeeds, to machine: Machine
    ) async throws -> any ProvidedPlace {
        order.wait.say(.brought(to: machine.name))
        let held = Held()
        var places = RemotePlaces(
            link: try await reach.link(to: machine, for: order), machine: machine.name,
            allowsUnsandboxed: allowsUnsandboxed)
        places.steps = max(machine.cpus / max(machine.slots, 1), needs.cpus ?? 1)
        places.connected = { held.take($0) }
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
    fileprivate func waiting(_ needs: MachineNeeds, _ scope: MachineScope, seconds: Double) -> WaitingRun {
        let request = run.run.request
        return WaitingRun(
            id: Int(run.run.id), owner: request.repository, needs: needs, scope: scope,
            snapshot: "\(request.repository)/\(request.workflow)", seconds: seconds)
    }
}

/// A place on another machine, whose loss the placement learns of.
private struct PlaceElsewhere: ProvidedPlace {
    let inner: any ProvidedPlace
    let machine: String
    let placement: Placement

    init(place: any ProvidedPlace, machine: String, placement: Placement) {
        (inner, self.machine, self.placement) = (place, machine, placement)
    }

    var place: any RunPlace { inner.place }
    var workspaceView: String? { inner.workspaceView }
    var resumption: Resumption? { inner.resumption }
    var findings: [Finding] { inner.findings }
    var delaysNextRun: Bool { inner.delaysNextRun }
    var elsewhere: OtherMachine? { inner.elsewhere }

    func close(hasPassed: Bool, isAllEnded: Bool) async -> any FinishedPlace {
        let finished = await inner.close(hasPassed: hasPassed, isAllEnded: isAllEnded)
        if let lost = finished.lost { placement.lose(machine, reason: lost) }
        return finished
    }

    func abandon() async { await inner.abandon() }
}
