package import Concurrency
package import MachinePool
package import Pipeline
package import Workspaces

/// Gives single steps of one run other machines than the run's own.
package protocol StepMachines: Sendable {
    /// The machine of the run.
    var own: Machine { get }

    /// Waits until another machine has room for a step, which holds it then.
    ///
    /// - Parameters:
    ///   - say: Told why it waits, as a sentence.
    /// - Throws: Why no machine can run it; nothing is held then.
    func hold(
        _ step: PlannedStep, because reason: LeaveReason, _ stop: StopSignal, say: @escaping @Sendable (String) -> Void
    ) async throws -> HeldMachine

    /// Prepares a place on a machine, with the commit of the run.
    ///
    /// - Parameters:
    ///   - held: The machine, with the number of the step that needs it first.
    ///   - plan: The steps that may run there.
    ///   - stop: Ends the preparation.
    func provide(_ held: HeldMachine, for plan: Plan, _ stop: StopSignal) async throws -> any ProvidedPlace

    /// Gives back what ``hold(_:because:_:say:)`` returned.
    func leave(_ held: HeldMachine)

    /// Notes that the run does nothing on its own machine for a while because steps wait for other machines, or that
    /// this is over.
    func rest(_ rests: Bool)
}

/// Why a step is to run on another machine than that of its run.
package enum LeaveReason: Sendable, Equatable {
    /// The run's own machine is not what the step needs.
    case needs
    /// The run's own machine has no room for it now.
    case room
    /// The run's own machine has proved it, and that is to be checked, by a machine of its kind that is free now.
    case check
}

/// A machine that a step holds.
package struct HeldMachine: Sendable {
    /// Identifies the step among all that wait for machines.
    package var number: Int
    package var machine: Machine
    /// What the step needs of it.
    package var needs: MachineNeeds

    package init(number: Int, machine: Machine, needs: MachineNeeds) {
        (self.number, self.machine, self.needs) = (number, machine, needs)
    }

    /// Whether its place may be used by further steps of the run. What Slurm has allocated is for one step.
    var isShared: Bool { !machine.isCluster }
}
