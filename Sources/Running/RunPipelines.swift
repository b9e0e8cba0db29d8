package import Watching
package import Preparing
import Evaluating
package import Workspaces
package import Control
import StateFiles
import WorkflowPrograms
import Archive
import TestShards
package import Delivery
import Engine
import Foundation
package import Logging
import Pipeline
package import Placing
package import Results
package import StepSlots
import Store

/// Creates the phases of runs and connects them.
package struct RunPipelines: Sendable {
    package let state: OpenState
    package let options: DaemonOptions
    package let tools: BuildTools
    let pool: SlotPool
    package let workspaces: WorkspaceStores
    let monitor: RunMonitor
    package let waiters: ApprovalWaiters
    /// Makes and publishes releases.
    package let delivery: DeliveryService
    /// Makes the bundle, which a fixer reads.
    package let bundle: @Sendable (BundleRequest) async throws -> String
    /// What is known of tasks.
    let tasks: TaskRecords
    /// How long runs take.
    let times: RunTimes
    /// Starts runs for agents of tasks while they work.
    let trials: TaskTrials?
    package let log: Logger

    package init(
        state: OpenState, options: DaemonOptions, tools: BuildTools, pool: SlotPool, workspaces: WorkspaceStores,
        monitor: RunMonitor, waiters: ApprovalWaiters, delivery: DeliveryService,
        bundle: @escaping @Sendable (BundleRequest) async throws -> String, trials: TaskTrials? = nil, log: Logger
    ) {
        self.state = state
        self.options = options
        self.tools = tools
        self.pool = pool
        self.workspaces = workspaces
        self.monitor = monitor
        self.waiters = waiters
        self.delivery = delivery
        self.bundle = bundle
        self.trials = trials
        tasks = TaskRecords(state.index, files: state.folder.taskFiles)
        times = RunTimes(index: state.index, reports: state.archive)
        self.log = log
    }

    func pipeline() async throws -> RunPipeline {
        let (programs, sandboxing) = (try await tools.programs(), await tools.sandboxing())
        let provider = provider(tools: programs.tools, sandboxing)
        let approval = ApprovalPhase(index: state.index, waiters: waiters, log: log)
        let order = RunOrder(index: state.index, log: log)
        let reader = SwiftReaderProcess(beside: tools.executable, sandboxing.programSandbox)
        return RunPipeline(
            prepare: PreparePhase(
                programs: programs, index: state.index, tasks: tasks, order: order, gate: TreeGate(options),
                reviewsDefinitions: sandboxing.sandbox != nil || options.allowsUnsandboxed),
            approve: approval,
            lookUp: ProofSearch(
                index: state.index, store: state.archive, options: options, sandboxing: sandboxing,
                toolchain: programs.toolchain, log: log),
            provide: ProvidePhase(
                places: MachinePlaces(
                    here: LocalPlaces(
                        sandboxing: sandboxing, state: state.folder, folders: options.folders,
                        allowsUnsandboxed: options.allowsUnsandboxed, stepInit: tools.stepInit, workspaces: provider,
                        sandboxPool: workspaces.sandboxPool),
                    placement: monitor.placement, reach: machines,
                    allowsUnsandboxed: options.allowsUnsandboxed,
                    snapshots: OtherSnapshots(provider.snapshots, limit: options.snapshotBytes),
                    expected: { [times] in await times.time(of: $0) }),
                secrets: SecretSource(state: state.folder),
                reviews: ReviewMaterial(index: state.index, reports: state.archive),
                fixer: FixerWorkspace(
                    index: state.index, store: state.archive, bundle: bundle,
                    reader: reader),
                tasks: TaskWorkspace(
                    index: state.index,
                    materials: TaskMaterials(history: tasks, store: state.archive, bundle: bundle), reader: reader,
                    // An agent holds a slot while it works.
                    trials: options.slots > 1 ? trials : nil),
                delivery: delivery, log: log),
            execute: ExecutePhase(
                pool: pool, approval: approval, delivery: delivery, order: order, options: options, monitor: monitor,
                testTimes: TestTimesFolder(state.folder.testTimes)),
            evaluate: Evaluation(index: state.index, reports: state.archive, snapshots: workspaces.snapshots, log: log),
            reader: reader,
            record: recorder,
            release: ReleasePhase(
                users: sandboxing.users, reaper: workspaces.reaper, log: log),
            monitor: monitor)
    }

    /// The ways to other machines.
    package var machines: ListedMachines { ListedMachines(state.folder, stepInit: tools.stepInit) }

    /// Which runs are on which machines.
    package var placement: Placement { monitor.placement }

    /// Records the results of runs.
    var recorder: RunRecorder {
        RunRecorder(
            state: state.folder, index: state.index, store: state.archive, options: options, log: log,
            isEnding: { [monitor] in monitor.scheduler.isEnding })
    }

    private func provider(tools: String, _ sandboxing: Sandboxing) -> WorkspaceProvider {
        WorkspaceProvider(
            snapshots: SnapshotWorkspaces(
                store: workspaces.snapshots, tools: tools,
                isPossible: sandboxing.layering != nil && options.snapshotBytes > 0,
                missed: { [events = monitor.events] in events.publish(.snapshotMissed($0)) }, log: log),
            retained: RetainedWorkspaces(
                store: workspaces.retained, archive: state.archive, tools: tools,
                settings: .init(
                    folder: state.folder.retained, lifetime: options.keepFailed, bytes: options.retainedBytes,
                    layering: sandboxing.layering),
                log: log),
            layering: sandboxing.layering, log: log)
    }

    /// The folders of a run, with a standby sandbox if there is one, or with what an earlier life of the daemon left.
    package func place(
        for run: QueuedRun, in repository: WatchedRepository
    ) async -> (directories: RunDirectories, left: LeftRun?) {
        if run.attempt > 1, let found = LeftRun.all(in: state.folder).first(where: { $0.left.run == run.id }) {
            return (RunDirectories(run, in: state.folder, left: found.folder), found.left)
        }
        // A standby sandbox can't show a retained workspace or the objects of a clone, since it was started without
        // them.
        let isUsual = run.request.resumes == nil && run.request.source == nil
        let ready = isUsual ? await workspaces.sandboxPool?.place(for: repository.name) : nil
        return (ready ?? RunDirectories(run, in: state.folder), nil)
    }
}
