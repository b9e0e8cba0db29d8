import Concurrency
import ProofKeys
import Preparing
import Evaluating
import Workspaces
import Results
import Store
import Delivery
import Engine
import Foundation
import Git
import Pipeline
import StepLogs
import StepSlots
import SystemPackage
import TestShards

/// The phase that runs the plan's steps. It turns the results of the earlier phases into the engine's setting.
struct ExecutePhase: Sendable {
    let pool: SlotPool
    let approval: ApprovalPhase
    let delivery: DeliveryService
    let order: RunOrder
    let options: DaemonOptions
    let monitor: RunMonitor
    let testTimes: TestTimesFolder

    /// - Parameters:
    ///   - kept: What is kept of the run for another life of the daemon.
    ///   - journal: Where steps record what they are about to do; nil if they may be repeated.
    func execute(
        _ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs, _ provided: ProvidePhase.Provided,
        kept: KeptSteps? = nil, journal: StepJournal?
    ) async -> RunOutcome {
        var setting = setting(task, prepared, provided)
        (setting.kept, setting.journal) = (kept, journal)
        setting.outputs = monitor.live.outputs
        setting.knownFlaky = await order.index.knownFlaky(for: prepared.plan, of: task.request.repository)
        setting.order = await order.steps(of: prepared, task.request)
        if let resumption = provided.place.resumption {
            // A pass here may depend on what a failed attempt left, so it is no proof.
            setting.carried = prepared.plan.withoutLoneParts(resumption.carried)
        } else {
            (setting.keys, setting.proved) = (proofs.keys, proofs.proved)
        }
        (setting.withheld, setting.tracked) = (proofs.keyed.withheld, proofs.keyed.tracked)
        let elsewhere = provided.place.elsewhere
        // Another machine has its slot until the place is given back.
        if !provided.place.delaysNextRun, elsewhere == nil {
            setting.finished = { [monitor] in monitor.stepsEnded(task) }
        }
        let (plan, request) = (prepared.plan, task.request)
        let isDivided = plan.steps.contains { $0.shard?.list != nil }
        if isDivided {
            let known = try? await offThread { [testTimes] in testTimes.known(for: plan, of: request) }
            setting.place = DividedPlace(setting.place, knowing: known ?? [:], folder: setting.folder)
        }
        let mayWait = prepared.plan.steps.contains { $0.action == .approval }
        let pool = elsewhere.map { self.pool.elsewhere(slots: $0.steps) } ?? self.pool
        let runner = Runner(setting: setting, pool: pool) { [monitor] event in
            monitor.step(event, of: task.id, mayWaitForApproval: mayWait)
        }
        let outcome = await runner.run(plan, stop: task.stop)
        if isDivided {
            try? await offThread { [testTimes] in testTimes.add(outcome.steps, outcome.tests, of: plan, request) }
        }
        return outcome
    }

    private func setting(
        _ task: RunTask, _ prepared: RunPreparation, _ provided: ProvidePhase.Provided
    ) -> RunSetting {
        let run = task.run
        var setting = RunSetting(
            place: provided.runPlace, folder: FilePath(task.place.folder),
            environment: RunVariables.environment(prepared, run), grace: options.grace,
            logLimits: LogLimits(head: options.logBytes, tail: options.logBytes), secrets: provided.secrets,
            approval: { [approval] step, stop in await approval.decision(on: step, of: run, prepared, stop) })
        setting.stepLimits = options.stepLimits
        setting.runLimits = options.runLimits
        setting.shutdown = options.shutdown
        setting.quarantine = QuarantineList(prepared.declaration.quarantine).active
        setting.onlyTests = prepared.plan.narrowed(by: task.request)
        setting.reviews = provided.reviews
        setting.releases = prepared.releaseBasis(task, on: provided.place.elsewhere?.name).map { delivery.work($0) }
        return setting
    }
}

extension RunPreparation {
    /// What is known of the release that the run makes; nil if it makes none.
    ///
    /// - Parameter machine: The name of the machine that it is on, if that is not the daemon's.
    fileprivate func releaseBasis(_ task: RunTask, on machine: String?) -> ReleaseBasis? {
        guard let version else { return nil }
        return ReleaseBasis(
            run: task.id, repository: task.request.repository, workflow: task.request.workflow, version: version,
            commit: tested.hex, tree: tree.hex,
            committedAt: Date(timeIntervalSince1970: Double(commitTime)), definition: definition,
            parameters: context.parameters, plan: plan, trust: trust, startedAt: task.startedAt,
            ref: task.request.ref, lastTag: context.lastTag, pipectl: Report.Machine.version,
            builder: "urn:pipectl:build-box:\(machine ?? Report.Machine.current.host)")
    }
}
