package import Concurrency
package import Masking
package import Pipeline
package import Results

/// Where a step may run.
package enum StepReach: Sendable, Equatable {
    /// On the machine of the run only.
    case own
    /// There, or on another machine if one is free first.
    case either
    /// On another machine if one is free now: what that of the run says about the step is to be checked.
    case rather
    /// On another machine only, because that of the run is not what the step needs.
    case other
}

/// Machines beside that of a run, on which single steps of it may run.
package protocol StepSites: Sendable {
    func reach(of step: PlannedStep) -> StepReach

    /// Waits until another machine has room for a step.
    ///
    /// - Parameter say: Told why it waits, as a sentence.
    /// - Throws: Why no other machine can run it. Nothing is held then.
    func hold(
        _ step: PlannedStep, _ rules: OutputRules, _ stop: StopSignal, say: @escaping @Sendable (String) -> Void
    ) async throws -> any StepSite

    /// Notes the outputs of a step that ended on the run's machine or is proved, if they are stored.
    func note(_ outputs: StoredOutputs, of step: PlannedStep)
}

/// How outputs are handed to other machines.
package struct OutputRules: Sendable {
    package var limits: FileLimits
    /// Outputs with a secret are not handed over.
    package var masker: Masker?
    /// By step, the tracked files at its output paths.
    package var tracked: [String: [String]]
}

/// Another machine that is held for one step.
package protocol StepSite: Sendable {
    var machine: String { get }

    /// Makes a place of it, with the commit and with what the step needs of the steps before it.
    ///
    /// - Throws: ``StepSiteProblem``; any other error is one of this machine, and another one may do.
    func enter(stop: StopSignal) async throws -> any OpenPlace

    /// Brings the outputs of the step to the machine of the run.
    ///
    /// - Parameter stored: Where they are stored already; nil if they are not.
    /// - Throws: ``StepSiteProblem``; any other error is one of this machine.
    func bringBack(_ stored: StoredOutputs?) async throws

    /// Gives the machine back. Every holder does that once.
    func leave() async
}

/// Why a step can't run on any other machine, as a sentence.
package struct StepSiteProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package var reason: String
    /// Whether a machine failed, and not what steps left.
    package var isOfMachine: Bool
    package init(_ reason: String, isOfMachine: Bool) { (self.reason, self.isOfMachine) = (reason, isOfMachine) }
    package var description: String { reason }
}
