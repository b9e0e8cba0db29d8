import ProofKeys
import Preparing
import Evaluating
import Workspaces
import Results
import Store
import Engine
import Foundation
import Pipeline
import Sandbox
import SystemPackage
import WorkflowPrograms

/// The phase that runs the plan's steps. It turns the results of the earlier phases into the engine's setting.
struct ExecutePhase: Sendable {
    let pool: SlotPool
    let approval: ApprovalPhase
    let order: RunOrder
    let settings: Settings
    let monitor: RunMonitor

    /// Settings that are the same for all runs.
    struct Settings: Sendable {
        /// The `stepinit` program.
        var stepInit: String
        var options: BoxOptions
        var controlGroups: ControlGroups?
        /// Prepares sandboxes for later runs; nil if none are prepared.
        var sandboxPool: SandboxPool?
    }

    /// - Parameter journal: Where steps record what they are about to do; nil if they may be repeated.
    func execute(
        _ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs, _ provided: ProvidePhase.Provided,
        journal: StepJournal?
    ) async -> RunOutcome {
        var setting = setting(task, prepared, provided)
        setting.journal = journal
        setting.knownFlaky = await order.index.knownFlaky(for: prepared.plan, of: task.request.repository)
        setting.order = await order.steps(of: prepared, task.request)
        if let resumption = provided.lease.resumption {
            // A pass here may depend on what a failed attempt left, so it is no proof.
            setting.carried = resumption.carried
        } else {
            (setting.keys, setting.proved) = (proofs.keys, proofs.proved)
        }
        (setting.withheld, setting.tracked) = (proofs.keyed.withheld, proofs.keyed.tracked)
        // A run that writes caches lets the next one start only after its sandboxes have ended; otherwise that one
        // could only read them.
        if provided.enclosed.written.isEmpty { setting.finished = { [monitor] in monitor.stepsEnded(task) } }
        let mayWait = prepared.plan.steps.contains { $0.action == .approval }
        let runner = Runner(setting: setting, pool: pool) { [monitor] event in
            monitor.step(event, of: task.id, mayWaitForApproval: mayWait)
        }
        return await runner.run(prepared.plan, stop: task.stop)
    }

    private func setting(
        _ task: RunTask, _ prepared: RunPreparation, _ provided: ProvidePhase.Provided
    ) -> RunSetting {
        let options = settings.options
        let run = task.run
        var setting = RunSetting(
            place: place(task, prepared, provided), folder: FilePath(task.place.folder),
            environment: RunVariables.environment(prepared, run), grace: options.grace,
            logLimits: LogLimits(head: options.logBytes, tail: options.logBytes), secrets: provided.secrets,
            approval: { [approval] step, stop in await approval.decision(on: step, of: run, prepared, stop) })
        setting.stepLimits = options.stepLimits
        setting.runLimits = options.runLimits
        setting.shutdown = options.shutdown
        setting.quarantine = QuarantineList(prepared.declaration.quarantine).active
        setting.onlyTests = prepared.plan.narrowed(by: task.request)
        setting.reviews = provided.reviews
        return setting
    }

    private func place(
        _ task: RunTask, _ prepared: RunPreparation, _ provided: ProvidePhase.Provided
    ) -> LocalPlace {
        let (enclosed, space) = (provided.enclosed, provided.lease.workspace)
        let (workflow, program) = (task.request.workflow, prepared.program)
        let contextFile =
            enclosed.runSandbox != nil && Sandbox.hasMounts
            ? Sandbox.Place.context : RunSandboxLease.contextFile(in: task.place.folder)
        var place = LocalPlace(
            workspace: FilePath(space.path), folder: FilePath(task.place.folder),
            stepInit: FilePath(settings.stepInit),
            closureCommand: { program.closureCommand(workflow: workflow, step: $0, contextFile: contextFile) })
        place.workspaceMount = space.mount
        place.runSandbox = enclosed.runSandbox
        // A standby sandbox shows the folder that existed before. A checkout after failed layers is another one.
        place.standby = space.problem == nil ? enclosed.standby : nil
        place.controlGroups = settings.controlGroups
        place.rooms = provided.reviews.compactMapValues(\.room)
        place.launched = sandboxesForNext(task, prepared, provided)
        return place
    }

    /// What prepares sandboxes for the next runs; nil if there is nothing to prepare.
    private func sandboxesForNext(
        _ task: RunTask, _ prepared: RunPreparation, _ provided: ProvidePhase.Provided
    ) -> (@Sendable () -> Void)? {
        guard task.request.background == nil, let sandboxPool = settings.sandboxPool,
            let wanted = provided.enclosed.next(after: prepared.preparedRun(task), provided.lease.workspace)
        else { return nil }
        let (name, most, live) = (task.request.repository, settings.options.slots, monitor.live)
        return { sandboxPool.prepare(wanted, count: min(live.count(of: name), most)) }
    }
}
