import Workspaces
import Results
import Store
import Engine
import Foundation
import Pipeline
import Sandbox
import SystemPackage
import WorkflowPrograms

/// The phase that runs the plan's steps: it turns what the phases before found and provided into the engine's setting.
struct ExecutePhase: Sendable {
    let pool: SlotPool
    let approval: ApprovalPhase
    let order: RunOrder
    let settings: Settings
    let monitor: RunMonitor

    /// What is the same for all runs.
    struct Settings: Sendable {
        /// The `stepinit` program.
        var stepInit: String
        var options: BoxOptions
        var controlGroups: ControlGroups?
        /// Makes sandboxes ready for the runs that follow; nil where nothing is made ready.
        var sandboxPool: SandboxPool?
    }

    /// - Parameter journal: Where steps write down what they are about to do; nil where they may be done again.
    func execute(
        _ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs, _ provided: ProvidePhase.Provided,
        journal: StepJournal?
    ) async -> RunOutcome {
        var setting = setting(task, prepared, provided)
        setting.journal = journal
        setting.knownFlaky = await order.index.knownFlaky(for: prepared.plan, of: task.request.repository)
        setting.order = await order.steps(of: prepared, task.request)
        if let resumption = provided.lease.resumption {
            // What passes here may depend on what a failed attempt left: it proves nothing.
            setting.carried = resumption.carried
        } else {
            (setting.keys, setting.proved) = (proofs.keys, proofs.proved)
        }
        (setting.withheld, setting.tracked) = (proofs.keyed.withheld, proofs.keyed.tracked)
        prepareNext(task, prepared, provided, &setting)
        let mayWait = prepared.plan.steps.contains { $0.action == .approval }
        let runner = Runner(setting: setting, pool: pool) { [monitor] event in
            monitor.step(event, of: task.id, mayWaitForApproval: mayWait)
        }
        return await runner.run(prepared.plan, stop: task.stop)
    }

    private func setting(
        _ task: RunTask, _ prepared: RunPreparation, _ provided: ProvidePhase.Provided
    ) -> RunSetting {
        let (options, enclosed, space) = (settings.options, provided.enclosed, provided.lease.workspace)
        let (workflow, program, run) = (task.request.workflow, prepared.program, task.run)
        let contextFile =
            enclosed.runSandbox != nil && Sandbox.hasMounts
            ? Sandbox.Place.context : RunSandboxLease.contextFile(in: task.place.folder)
        var setting = RunSetting(
            workspace: FilePath(space.path), folder: FilePath(task.place.folder),
            environment: RunVariables.environment(prepared, run),
            closureCommand: { step in
                program.closureCommand(workflow: workflow, step: step, contextFile: contextFile)
            },
            stepInit: FilePath(settings.stepInit), grace: options.grace,
            logLimits: LogLimits(head: options.logBytes, tail: options.logBytes), secrets: provided.secrets,
            approval: { [approval] step, stop in await approval.decision(on: step, of: run, prepared, stop) })
        setting.workspaceMount = space.mount
        setting.runSandbox = enclosed.runSandbox
        // A sandbox that waited shows the folder that was there before. A checkout after failed layers is another one.
        setting.standby = space.problem == nil ? enclosed.standby : nil
        setting.stepLimits = options.stepLimits
        setting.runLimits = options.runLimits
        setting.controlGroups = settings.controlGroups
        setting.shutdown = options.shutdown
        setting.quarantine = QuarantineList(prepared.declaration.quarantine).active
        setting.onlyTests = prepared.plan.narrowed(by: task.request)
        setting.reviews = provided.reviews
        return setting
    }

    /// Has sandboxes made ready for the next runs once the first step has begun, and lets another run start once no step
    /// will begin any more.
    private func prepareNext(
        _ task: RunTask, _ prepared: RunPreparation, _ provided: ProvidePhase.Provided, _ setting: inout RunSetting
    ) {
        let (monitor, enclosed) = (monitor, provided.enclosed)
        if task.request.background == nil, let sandboxPool = settings.sandboxPool,
            let wanted = enclosed.next(after: prepared.preparedRun(task), provided.lease.workspace)
        {
            let (name, most) = (task.request.repository, settings.options.slots)
            setting.launched = { sandboxPool.prepare(wanted, count: min(monitor.live.count(of: name), most)) }
        }
        // The next run could only read the caches that this one writes until its sandboxes have ended.
        if enclosed.written.isEmpty { setting.finished = { monitor.stepsEnded(task) } }
    }
}
