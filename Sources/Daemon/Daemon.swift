import Landing
import Listening
import Pages
import Watching
import Running
public import Preparing
import Evaluating
import Workspaces
public import StateFiles
public import Control
import Archive
import Concurrency
import Delivery
import Engine
import Git
public import Logging
import MachineList
import Placing
public import Results
import Secrets
import StepSlots
import Store
import ForgeConnection
import Forges
import SystemPackage
import TaskService
import WorkflowPrograms

/// The daemon: owns the state folder, watches repositories, queues runs and takes each to its verdict.
///
/// A command that finds no daemon opens one for its own lifetime. This type only connects the parts.
public final class Daemon: Sendable {
    let state: OpenState
    let options: DaemonOptions
    let tools: BuildTools
    let repositories: KnownRepositories
    let workspaces: WorkspaceStores
    let health: Health
    let work: RunWork
    /// Writes ended runs into `archive.git`.
    let archive: ArchiveService
    /// Sees what becomes of the changes of tasks.
    let taskWatch: TaskWatch
    let requests: RequestHandler
    /// Where tasks and the world outside meet.
    let outside: TaskOutside
    let log: Logger

    /// Opens the state folder for this process alone and settles what an earlier process left.
    ///
    /// - Parameters:
    ///   - purpose: The command that other processes are told about: `watch`.
    ///   - executable: The path of this pipectl; `stepinit` and the Pipeline library are found beside it.
    /// - Throws: An error with the next step: the state is locked or damaged, or a tool is missing.
    public init(
        state folder: StateFolder, purpose: String, options: DaemonOptions, executable: String? = nil, log: Logger
    ) async throws {
        let state = try await OpenState(folder, purpose: purpose, log: log)
        tools = try BuildTools(folder: folder, options: options, executable: executable)
        workspaces = WorkspaceStores(folder, options, log: log)
        let placement = Placement(MachineList(folder), slots: options.runs, log: log)
        await placement.refresh()
        let scheduler = Scheduler(
            index: state.index, limit: options.runs, otherSlots: { placement.otherSlots })
        health = Health(
            folder: folder.path, wantedBytes: options.keptFreeBytes, reserve: state.reserve, log: log,
            onRoom: { scheduler.wakeUp() })
        let board = LiveBoard()
        let queue = RunQueue(
            index: state.index, scheduler: scheduler, board: board,
            unstarted: UnstartedRuns(
                index: state.index, store: state.archive, events: scheduler.events, log: log))
        repositories = KnownRepositories(
            registry: RepositoryRegistry(index: state.index, mirrors: folder.mirrors), index: state.index,
            watchers: Watchers(), mirrors: folder.mirrors, trust: options.trust)
        let fixes = FixCoordinator(
            index: state.index, store: state.archive, queue: queue, repositories: repositories, health: health,
            log: log)
        let definitions = WorkflowDefinitions(repositories: repositories, tools: tools)
        let landings = LandingHandler(
            queues: MergeQueues(index: state.index), repositories: repositories,
            declarations: LandingDeclarations(definitions: definitions, repositories: repositories, log: log),
            news: board.news, log: log)
        let delivery = DeliveryService(state, repositories)
        let credentials = ForgeCredentialStore(folder: FilePath(folder.forges))
        let tasks = TaskParts(
            state: folder, index: state.index, store: state.archive, queue: queue, definitions: definitions,
            landings: landings,
            opener: ForgeChangeOpener(index: state.index, credentials: credentials),
            issues: ForgeIssues(index: state.index, credentials: credentials),
            crashes: CrashLookup(
                index: state.index, archive: state.archive, releases: delivery.folders,
                scratch: "\(folder.path)/symbols",
                compiler: { [tools] in try? await tools.programs().toolchain.swiftc }),
            health: health, log: log)
        let tests = TestQueries(index: state.index, store: state.archive, repositories: repositories)
        let bundles = BundleQuery(index: state.index, store: state.archive, board: board, tests: tests)
        let pipelines = RunPipelines(
            state: state, options: options, tools: tools,
            pool: SlotPool(slots: options.slots, capacities: options.capacities), workspaces: workspaces,
            monitor: RunMonitor(
                live: board, events: scheduler.events, scheduler: scheduler, placement: placement),
            waiters: ApprovalWaiters(), delivery: delivery,
            bundle: { try await bundles.bundle($0) },
            trials: TaskTrials(
                runToEnd: { try await queue.runToEnd($0, cancelReason: "the agent that asked for it has ended") },
                tests: { try await tests.known(named: $0, in: $1) }), log: log)
        let secrets = SecretStores(state: folder)
        outside = TaskOutside(
            tasks.requests,
            secret: { name, repository in try await offThread { try secrets.value(of: name, for: repository) } },
            log: log)
        work = RunWork(
            scheduler: scheduler,
            execution: RunExecution(pipelines: pipelines, repositories: repositories, health: health, log: log),
            background: BackgroundWork(
                index: state.index, snapshots: workspaces.snapshots, log: log,
                freeBytes: { [health] in health.spareBytes },
                accept: { try await queue.accept($0) }),
            fixes: fixes, tasks: tasks.coordinator, failures: outside.failures, redTests: RedTestQueue(),
            writesNotes: options.writesNotes,
            runLog: options.runLog, log: log)
        requests = RequestHandler(
            pipelines, queue, fixes, definitions, landings, tasks.requests, bundles, health)
        taskWatch = tasks.watch
        archive = ArchiveService(store: state.archive, index: state.index, log: log)
        (self.state, self.options, self.log) = (state, options, log)
        try await settle()
    }

    /// Decides about runs that an earlier process left running, and removes their folders.
    private func settle() async throws {
        let kept = try await state.recover(log: log)
        // Before the folders are removed: the report of an interrupted run may need their content.
        await queue.unstarted.archive()
        await requests.commands.approvals.answers.settleAll()
        await state.removeFolders(except: kept)
        await workspaces.retained.clear()
        await work.execution.pipelines.delivery.removeLeft(state.folder, log: log)
    }

    var scheduler: Scheduler { work.scheduler }
    var board: LiveBoard { queries.runs.board }
    var queue: RunQueue { requests.commands.runs.queue }
    var watchers: Watchers { repositories.watchers }
    private var queries: QueryHandler { requests.queries }

    /// Releases the state folder.
    public func close() async {
        await tools.close()
        state.close()
    }

    /// Answers one request, from this process or over the socket.
    ///
    /// - Parameter user: The user of this process, or the user at the other end of the socket according to the kernel.
    public func answer(
        _ request: DaemonRequest, by user: UInt32, reply: @Sendable (DaemonReply) async throws -> Void
    ) async throws {
        try await requests.answer(request, by: user, reply: reply)
    }

    /// Allows only these runs to start.
    public func startOnly(_ runs: Set<RunID>) async { await scheduler.startOnly(runs) }

    /// The report of a named run that has ended here and is archived.
    public func archivedReport(of run: RunID) async -> Report? {
        guard let report = await scheduler.report(of: run), let row = try? await state.index.run(run),
            row.summary.isArchived, row.summary.verdict == report.verdict
        else { return nil }
        return report
    }

    /// Starts no further runs; ``serve(whenReady:)`` returns when the live ones have ended.
    public func drain() async { await work.drain() }

    /// Cancels all live runs, with the grace period.
    public func cancelAll(_ reason: String) async { await scheduler.cancelAll(reason) }

    /// Wakes every watcher, as SIGHUP does.
    public func lookAtAll() { for watcher in watchers.all { watcher.wakeUp() } }

    /// Why no run starts although some wait; nil if nothing prevents it.
    func obstacle() async -> String? { await queries.status.obstacle() }
}

extension RequestHandler {
    /// Connects the answers to requests.
    init(
        _ pipelines: RunPipelines, _ queue: RunQueue, _ fixes: FixCoordinator, _ definitions: WorkflowDefinitions,
        _ landings: LandingHandler, _ tasks: TaskRequests, _ bundles: BundleQuery, _ health: Health
    ) {
        let (state, options, log) = (pipelines.state, pipelines.options, pipelines.log)
        let (index, store, tools) = (state.index, state.archive, pipelines.tools)
        let tests = bundles.tests
        let repositories = definitions.repositories
        let maker = RunRequestMaker(index: index, repositories: repositories, definitions: definitions, tests: tests)
        let planner = RunPlanner(index: index, repositories: repositories, tools: tools, log: log)
        let proofs = ProofQueries(
            index: index, requests: maker, planner: planner, options: options, store: store, log: log)
        let approvals = ApprovalService(
            index: index, waiters: pipelines.waiters,
            answers: AnswerSettlement(
                index: index, store: store, fixes: fixes, notes: options.writesNotes ? repositories.registry : nil,
                log: log),
            queue: queue, log: log)
        commands = CommandHandler(
            repositories: repositories,
            runs: ManualRuns(index: index, requests: maker, planner: planner, queue: queue, fixes: fixes),
            approvals: approvals,
            bisect: BisectService(
                index: index, store: store, repositories: repositories, tests: tests, queue: queue, log: log),
            fixes: FixRequests(index: index, store: store, queue: queue, fixes: fixes, definitions: definitions),
            proofs: proofs,
            archive: ArchiveCommands(
                index: index, store: store,
                clones: CloneCleanup(
                    index: index, retained: pipelines.workspaces.retained,
                    stores: CloneStores(mirrors: repositories.mirrors))),
            forges: ForgeRequests(index: index, news: queue.board.news, listen: try? options.listen.options()),
            log: log)
        queries = QueryHandler(
            index: index, store: store, repositories: repositories, requests: maker,
            runs: RunQueries(index: index, board: queue.board, links: PageLinks(options.listen)), tests: tests,
            bundles: bundles,
            proofs: proofs,
            status: StatusQuery(
                index: index, board: queue.board, watchers: repositories.watchers, approvals: approvals, tools: tools,
                folder: state.folder, options: options, placement: pipelines.placement,
                obstacle: {
                    if !health.hasSpace() { return health.obstacle }
                    if await queue.scheduler.isDraining { return "the daemon is shutting down" }
                    return health.obstacle
                }))
        self.landings = landings
        self.tasks = TaskHandler(tasks: tasks)
        access = AccessRequests(index: index, links: OneTimeLinks(), listen: options.listen, log: log)
        releases = ReleaseHandler(
            index: index, folders: pipelines.delivery.folders, repositories: repositories, log: log)
        self.health = health
    }
}
