import TestBasics
@testable import Workspaces
import StateFiles
import TestShards
import TestSupport
import Results
import Control
import Store
import Archive
import Delivery
import Engine
import Foundation
import Git
import Logging
import MachineList
import Pipeline
import Placing
import StepSlots
import Testing

import Concurrency
import Sandbox
import WorkflowPrograms
@testable import Evaluating
@testable import Preparing
import RunSamples
@testable import Running
@testable import Watching

/// Phases over an index in memory, an archive and a repository in a scratch folder, and no sandbox.
struct PhaseBench {
    static let log = Logger(label: "test")

    let folder: String
    let state: StateFolder
    let index: Store.Index
    let store: ArchiveStore
    let snapshots: SnapshotStore
    let retained: RetainedWorkspaceStore
    let repository: WatchedRepository
    /// The commit at the tip of main, and its tree.
    let tip: (commit: String, tree: String)
    let scheduler: Scheduler
    let placement: Placement
    let live = LiveBoard()
    let sandboxing = Sandboxing(
        sandbox: nil, obstacle: "none here", controlGroups: nil, groupObstacle: nil, users: StepUsers(),
        caches: CacheLocks())
    /// Without a margin of free bytes: the disk of a test may be small, as in a step of pipectl's own release.
    var options: DaemonOptions = {
        var options = DaemonOptions(slots: 2)
        options.minimumFreeBytes = 0
        return options
    }()
    var history = TaskRecords.none
    var trials: TaskTrials?
    /// Why no destination can be used.
    var obstacle = DeliveryProblem.Code.invalid

    static func with(_ body: (PhaseBench) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let source = "\(folder)/alpha"
            try await runCommand(
                "sh", "-ec",
                """
                git init -q -b main "$0"; cd "$0"
                git config user.name Ada; git config user.email ada@example.com
                echo content > file; git add file; git commit -qm first
                """, source)
            let state = try StateFolder(environment: ["PIPECTL_HOME": "\(folder)/state"])
            try state.create()
            let snapshots = SnapshotStore(folder: state.snapshots, limit: 0, log: log)
            let repository = try await WatchedRepository.open(source, named: "alpha", mirrors: state.mirrors)
            let tip = try await withRepository(at: source) { git in
                let commit = try git.commit(git.resolve("refs/heads/main"))
                return (commit: commit.id.hex, tree: commit.tree.hex)
            }
            let index = try await RunSample.index()
            try await body(
                PhaseBench(
                    folder: folder, state: state, index: index, store: ArchiveStore(home: state.path, queue: index),
                    snapshots: snapshots,
                    retained: RetainedWorkspaceStore(
                        folder: state.retained, lifetime: .seconds(3_600), limit: 1 << 30, found: [],
                        snapshots: snapshots,
                        log: log),
                    repository: repository, tip: tip, scheduler: Scheduler(index: index, limit: 2),
                    placement: Placement(MachineList(state), slots: 2, log: log)))
        }
    }

    /// Accepts and starts a run of the tip of main.
    func task(_ change: (inout RunRequest) -> Void = { _ in }) async throws -> RunTask {
        var request = RunSample.request(change: nil)
        (request.head, request.definitionCommit) = (tip.commit, tip.commit)
        change(&request)
        var run = try await index.enqueue(request).run
        run.attempt = try await index.markRunning(run.id)
        return RunTask(
            run: run, repository: repository, rules: TrustRules(), stop: StopSignal(),
            place: RunDirectories(run, in: state),
            startedAt: RunSample.start)
    }

    func prepared(_ task: RunTask, _ steps: [PlannedStep]) throws -> RunPreparation {
        try RunSample.prepared(task.request, RunSample.declaration(), steps, tested: tip)
    }

    var approval: ApprovalPhase { ApprovalPhase(index: index, waiters: ApprovalWaiters(), log: Self.log) }
    var monitor: RunMonitor {
        RunMonitor(live: live, events: scheduler.events, scheduler: scheduler, placement: placement)
    }
    var order: RunOrder { RunOrder(index: index, log: Self.log) }
    var recorder: RunRecorder {
        RunRecorder(state: state, index: index, store: store, options: options, log: Self.log)
    }

    var workspaces: WorkspaceProvider {
        WorkspaceProvider(
            snapshots: SnapshotWorkspaces(
                store: snapshots, tools: "swift", isPossible: false,
                missed: { [events = scheduler.events] in events.publish(.snapshotMissed($0)) },
                log: Self.log),
            retained: RetainedWorkspaces(
                store: retained, archive: store, tools: "swift",
                settings: .init(folder: state.retained, lifetime: .seconds(3_600), bytes: 1 << 30), log: Self.log),
            layering: nil, log: Self.log)
    }

    private var reader: SwiftReaderProcess { SwiftReaderProcess(beside: nil, .none) }

    func provide() throws -> ProvidePhase {
        ProvidePhase(
            places: LocalPlaces(
                sandboxing: sandboxing, state: state, folders: options.folders,
                allowsUnsandboxed: options.allowsUnsandboxed, stepInit: try Installation.stepInit(),
                workspaces: workspaces),
            secrets: SecretSource(state: state), reviews: ReviewMaterial(index: index, reports: store),
            fixer: FixerWorkspace(index: index, store: store, bundle: { _ in "" }, reader: reader),
            tasks: TaskWorkspace(
                index: index,
                materials: TaskMaterials(history: history, store: store, bundle: { "bundle of \($0.run)" }),
                reader: reader, trials: trials),
            delivery: delivery, log: Self.log)
    }

    /// Its destinations can't be used.
    var delivery: DeliveryService {
        DeliveryService(
            index: index, folders: ReleaseFolders(state.releases), sources: NoReleaseSources(),
            artifact: { _ in nil }, publishers: { [obstacle] _, _, _ in throw DeliveryProblem(obstacle, "nowhere") })
    }

    var execute: ExecutePhase {
        ExecutePhase(
            pool: SlotPool(slots: 2), approval: approval, delivery: delivery,
            order: order, options: options, monitor: monitor,
            testTimes: TestTimesFolder(state.testTimes))
    }

    var release: ReleasePhase {
        ReleasePhase(
            users: sandboxing.users, reaper: nil, log: Self.log)
    }

    /// All phases. No workflow can be compiled, so a run gets no further than its preparation.
    func pipeline() throws -> RunPipeline {
        let programs = ProgramCache(
            directory: "\(folder)/programs", library: PipelineLibrary(module: "/none", library: "/none"),
            toolchain: Toolchain(swiftc: "/none", version: "none", target: "none"))
        return RunPipeline(
            prepare: PreparePhase(
                programs: programs, index: index, tasks: history, order: order, gate: TreeGate(options),
                reviewsDefinitions: false),
            approve: approval,
            lookUp: ProofSearch(
                index: index, store: store, options: options, sandboxing: sandboxing, toolchain: programs.toolchain,
                log: Self.log),
            provide: try provide(), execute: execute, evaluate: Evaluation(always: [], judging: []), reader: reader,
            record: recorder,
            release: release, monitor: monitor)
    }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
}

/// Nothing has landed.
private struct NoReleaseSources: ReleaseSources {
    func address(_ basis: ReleaseBasis) async throws -> String? { nil }
    func landed(_ basis: ReleaseBasis) async throws -> LandedNotes { LandedNotes([]) }
    func file(_ path: String, _ basis: ReleaseBasis) async throws -> Data? { nil }
    func paths(named names: Set<String>, _ basis: ReleaseBasis) async throws -> [String] { [] }
}
