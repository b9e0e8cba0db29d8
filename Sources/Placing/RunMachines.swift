import Concurrency
import Engine
import MachinePool
import Machines
import Pipeline
import Results
import Spreading
import Synchronization
import Workspaces

/// Machines for single steps of one run.
struct RunMachines: StepMachines {
    let places: MachinePlaces
    let order: PlaceOrder
    let own: Machine
    private let excluded = Excluded()

    /// Machines that can't run this run, and what the last of them said.
    private final class Excluded: Sendable {
        let machines = Mutex<(names: Set<String>, refusal: PlaceUnavailable?)>(([], nil))
    }

    init(places: MachinePlaces, order: PlaceOrder, own: Machine) {
        (self.places, self.order, self.own) = (places, order, own)
    }

    func hold(
        _ step: PlannedStep, because reason: LeaveReason, _ stop: StopSignal, say: @escaping @Sendable (String) -> Void
    ) async throws -> HeldMachine {
        let wait = PlaceWait(stop: stop) { if case .waits(let reason) = $0 { say(reason) } }
        var needs = step.machine ?? MachineNeeds()
        var others = excluded.machines.withLock { $0.names }
        // An allocation of Slurm is one of many, but no other machine.
        if !own.isCluster || reason == .check { others.insert(own.name) }
        // What could have run on the run's own machine runs on one of its kind.
        if reason != .needs { needs = needs.and(MachineNeeds(traits: own.traits.filter(\.isMeasured))) }
        // The slots of the daemon's machine are for the runs that are there.
        if reason == .room { others.insert(ThisMachine.machine(slots: 1).name) }
        let request = order.run.run.request
        let number = places.placement.takeStepNumber()
        var waiting = WaitingRun(
            id: number, owner: request.repository, needs: needs, scope: .allBut(others),
            snapshot: "\(request.repository)/\(request.workflow)/\(step.name)", seconds: 60)
        waiting.partOf = Int(order.run.run.id)
        if reason == .check { waiting.patience = .none }
        let machine: Machine
        do { machine = try await places.placement.machine(for: waiting, wait) } catch {
            throw error is PlaceUnavailable ? excluded.machines.withLock { $0.refusal } ?? error : error
        }
        say("\(machine.name) is made ready for it")
        return HeldMachine(number: number, machine: machine, needs: needs)
    }

    func provide(_ held: HeldMachine, for plan: Plan, _ stop: StopSignal) async throws -> any ProvidedPlace {
        var order = order
        order.run.plan = plan
        order.needs = held.needs
        order.part = -held.number
        order.isWhole = false
        order.wait = PlaceWait(stop: stop, runStop: order.wait.runStop, losses: order.wait.losses)
        do {
            return try await places.provide(order, on: held.machine)
        } catch let problem as PlaceUnavailable {
            excluded.machines.withLock { ($0.refusal, _) = (problem, $0.names.insert(held.machine.name)) }
            throw problem
        } catch  where held.machine.address == .here || MachinePlaces.isOwn(error) && stop.request == nil {
            // No other machine would help.
            throw StepSiteProblem("it has no place: \(error)", isOfMachine: true)
        }
    }

    func leave(_ held: HeldMachine) { places.placement.leave(held.number) }

    func rest(_ rests: Bool) { places.placement.rest(order.run.run.id, rests, .waitsForMachines) }
}
