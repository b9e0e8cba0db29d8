import Workspaces
import StateFiles
import Results
import Store
import Archive
import Engine
import Foundation

/// Puts the phases of a run together.
extension Box {
    func pipeline(_ programs: ProgramCache, _ sandboxing: Sandboxing) -> RunPipeline {
        let workspaces = workspaces(tools: programs.tools, sandboxing)
        let approval = ApprovalPhase(index: index, waiters: waiters, log: log)
        let order = RunOrder(index: index, log: log)
        let monitor = RunMonitor(live: board, events: scheduler.events, scheduler: scheduler)
        return RunPipeline(
            prepare: PreparePhase(
                programs: programs, index: index, order: order, gate: TreeGate(options),
                reviewsDefinitions: sandboxing.sandbox != nil || options.allowsUnsandboxed),
            approve: approval,
            lookUp: ProofSearch(
                index: index, store: store, options: options, sandboxing: sandboxing, toolchain: programs.toolchain,
                log: log),
            provide: ProvidePhase(
                sandbox: SandboxSource(sandboxing: sandboxing, state: state, options: options),
                workspaces: workspaces, reviews: ReviewMaterial(index: index, reports: store),
                fixer: FixerWorkspace(index: index, store: store, bundle: { try await self.bundle($0) }), log: log),
            execute: ExecutePhase(
                pool: pool, approval: approval, order: order,
                settings: .init(
                    stepInit: stepInit, options: options, controlGroups: sandboxing.controlGroups,
                    sandboxPool: sandboxPool),
                monitor: monitor),
            evaluate: Evaluation(index: index, reports: store, bases: bases, log: log), record: recorder,
            release: ReleasePhase(
                workspaces: workspaces, users: sandboxing.users, reaper: reaper, log: log),
            monitor: monitor)
    }

    /// Writes down what runs come to.
    var recorder: RunRecorder {
        RunRecorder(
            state: state, index: index, store: store, options: options, log: log,
            isEnding: { [scheduler] in scheduler.isEnding })
    }

    private func workspaces(tools: String, _ sandboxing: Sandboxing) -> WorkspaceProvider {
        WorkspaceProvider(
            snapshots: SnapshotWorkspaces(
                bases: bases, tools: tools, isPossible: sandboxing.layering != nil && options.baseBytes > 0,
                missed: { [events = scheduler.events] in events.publish(.snapshotMissed($0)) }, log: log),
            retained: RetainedWorkspaces(
                kept: kept, archive: store, tools: tools,
                settings: .init(
                    folder: state.kept, lifetime: options.keepFailed, bytes: options.keptBytes,
                    layering: sandboxing.layering),
                log: log),
            layering: sandboxing.layering, log: log)
    }

    /// The folders of a run, with a sandbox that waits for it if there is one.
    func place(for run: QueuedRun, in repository: WatchedRepository) async -> RunDirectories {
        // A retained workspace, or the objects of a clone, can't be put into a sandbox that was made without them.
        let isUsual = run.request.resumes == nil && run.request.source == nil
        let ready = isUsual ? await sandboxPool?.place(for: repository.name) : nil
        return ready ?? RunDirectories(run, in: state)
    }
}
