import Workspaces
public import StateFiles
import Control
public import Results
public import Store
public import Archive
public import Logging

import Engine
import Foundation
import Git
import Pipeline

/// The build box: owns the state folder, watches repositories, queues runs and takes each to its verdict.
public actor Box {
    public let state: StateFolder
    public let index: Store.Index
    public let store: ArchiveStore
    public let options: BoxOptions

    /// The workspaces that runs begin from.
    let bases: SnapshotStore
    /// What failed runs left.
    let kept: RetainedWorkspaceStore
    let board = LiveBoard()
    /// Steps that wait for approval.
    let waiters = ApprovalWaiters()
    let log: Logger
    let pool: SlotPool
    /// The repositories that are open.
    let registry: RepositoryRegistry
    var watchers: [String: RepositoryWatcher] = [:]

    /// Made when the box begins to serve: a process that runs one thing and ends has no use for it.
    private(set) var sandboxPool: SandboxPool?
    /// Nil unless ``keepSweeping()`` goes on, or has.
    private(set) var reaper: DirectoryReaper?
    let stepInit: String
    private let executable: String?
    private var cache: ProgramCache?
    private(set) var found: Sandboxing?
    private let lock: StateLock
    /// Starts runs, and knows which go on.
    let scheduler: Scheduler
    /// Tests that turned red, for ``keepBisecting()``.
    let redTests: AsyncStream<BisectRequest>
    private let turnedRed: AsyncStream<BisectRequest>.Continuation
    /// Brings ended runs into `archive.git`.
    let archive: ArchiveService
    /// Passed by who archives runs that never started.
    let archiving = SerialGate()
    /// Whether something is to follow for fixes, and somebody sees to it.
    var fixesAreDue = false
    var isSettlingFixes = false
    private var spaceWarning = false
    /// Runs that the daemon wants for itself.
    private(set) lazy var background = BackgroundWork(
        index: index, bases: bases, log: log,
        freeBytes: { [state, options] in (DiskSpace.free(at: state.path) ?? .max) - options.keptFreeBytes }
    ) { [weak self] request in
        guard let self else { throw CancellationError() }
        return try await self.accept(request)
    }
    /// What can't be done now for want of something of this machine: what it is, and the sentence about it.
    var troubles: [String: String] = [:]
    let reserve: ReservedDiskSpace
    /// Counts what may have left memory behind: looks that saw something, questions.
    var activity = 0

    /// Opens the state folder for this process alone and settles what an earlier one left.
    ///
    /// - Parameters:
    ///   - purpose: What this process does, for the one that finds the state locked: `watch`.
    ///   - executable: The path of this pipectl; `stepinit` and the Pipeline library are found beside it.
    /// - Throws: An error with the next step: the state is locked, damaged, or a tool is missing.
    public init(
        state: StateFolder, purpose: String, options: BoxOptions, executable: String? = nil, log: Logger
    ) async throws {
        self.state = state
        self.options = options
        self.log = log
        try state.create()
        let reserve = ReservedDiskSpace(path: state.reserve)
        // Without room nothing can be begun, not even the lock's note.
        if let free = DiskSpace.free(at: state.path), free < 1 << 20 { _ = reserve.release() }
        lock = try StateLock.acquire(state, purpose: purpose)
        for path in StaleTemporaryFiles.remove(from: state, olderThan: Date()) {
            log.notice("removed \(path), left by a pipectl that was killed")
        }
        stepInit = try Installation.stepInit(beside: executable)
        self.executable = executable
        self.reserve = reserve
        let archived = try ArchiveStore(home: state.path)
        index = try await Box.openIndex(state, archived)
        store = archived.reading(index)
        archive = ArchiveService(store: store, index: index, log: log)
        registry = RepositoryRegistry(index: index, mirrors: state.mirrors)
        let found = RetainedWorkspaceStore.find(in: state.kept, bases: state.bases)
        bases = SnapshotStore(
            folder: state.bases, limit: options.baseBytes, log: log,
            held: found.flatMap { $0.folders(below: state.bases) })
        kept = RetainedWorkspaceStore(
            folder: state.kept, lifetime: options.keepFailed, limit: options.keptBytes, found: found, bases: bases,
            log: log)
        pool = SlotPool(slots: options.slots, capacities: options.capacities)
        // More than anybody would read the answers of; the newest are asked about again when they are still red.
        (redTests, turnedRed) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(100))
        scheduler = Scheduler(index: index, limit: options.runs)
        try await settle()
    }

    /// Opens the index, checked; one that is gone is not begun anew while the archive knows of runs.
    private static func openIndex(_ state: StateFolder, _ store: ArchiveStore) async throws -> Store.Index {
        let size = try? FileManager.default.attributesOfItem(atPath: state.index)[.size] as? NSNumber
        if (size?.intValue ?? 0) == 0 {
            let runs = try await store.ids().count
            let hasCopy = Store.Index.backupDate(of: state.index) != nil
            if runs > 0 || hasCopy { throw Store.Index.missing(state.index, runs: runs) }
        }
        return try Store.Index(path: state.index)
    }

    /// Makes sandboxes ready for runs to come, until the task is cancelled.
    func keepSandboxPool() async {
        let made = SandboxPool(state: state, folders: options.folders, log: log) { await self.sandboxing() }
        sandboxPool = made
        await made.run()
        sandboxPool = nil
    }

    /// Removes what ended runs left, until the task is cancelled.
    func keepSweeping() async {
        let made = DirectoryReaper()
        reaper = made
        await made.run()
    }

    /// Gives the state folder back.
    public func close() {
        found?.controlGroups?.close()
        lock.release()
    }

    /// Decides about what an earlier process left running, and sweeps its folders.
    private func settle() async throws {
        let settled = try await store.settle(index)
        for id in settled.finished { log.notice("run \(id) had ended; recorded its verdict") }
        if settled.added > 0 {
            log.warning(
                "added \(settled.added) runs to the index that only archive.git had. The next look finds pushes since then"
            )
        }
        for problem in settled.problems { log.warning("archive.git: \(problem.description)") }
        for run in try await index.recoverInterrupted() {
            switch run.outcome {
            case .queued(let attempt): log.notice("run \(run.id) was interrupted and is queued for attempt \(attempt)")
            case .ended(let verdict, let reason): log.notice("run \(run.id) ended: \(verdict.title), \(reason)")
            }
        }
        // Before the folders go: an interrupted run's report may still want what is in them.
        await archiveUnstarted()
        await settleAnswers()
        let reaper = [state.workspaces, state.live].flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).map { "\(folder)/\($0)" }
        }
        for leftover in reaper { try? await Workspace.remove(leftover) }
        await kept.clear()
    }

    /// The compiled workflows. Made when first wanted, so that reports can be read where no compiler is.
    func programs() async throws -> ProgramCache {
        if let cache { return cache }
        let library = try PipelineLibrary.find(beside: executable)
        let toolchain = try await toolchain()
        var confinement = await sandboxing().confinement
        if let shutdown = options.shutdown { confinement.afterEnd = { await shutdown.leaveIfTold(after: $0) } }
        let made = ProgramCache(
            directory: state.programs, library: library, toolchain: toolchain, confinement: confinement)
        // Another caller may have been faster; all must share one, which compiles a program once.
        let kept = cache ?? made
        cache = kept
        return kept
    }

    private func toolchain() async throws -> Toolchain {
        try await Toolchain.find(memory: "\(state.programs)/toolchain.json")
    }

    /// What encloses steps and programs here; tried out when first wanted.
    func sandboxing() async -> Sandboxing {
        if let found { return found }
        let tried = await Sandboxing.find(
            stepInit: stepInit, toolchain: try? await toolchain(), folders: options.folders, state: state,
            stopSignal: options.shutdown.map { _ in ShutdownNotice.scopeSignal }
        ).sharingSettings(in: state.settings)
        let kept = found ?? tried
        found = kept
        return kept
    }

    // MARK: The queue

    /// Restricts what ``work(untilIdle:)`` starts to the given runs.
    public func startOnly(_ runs: Set<RunID>) async { await scheduler.startOnly(runs) }

    /// The report of a named run that has ended here and is archived.
    public func archivedReport(of run: RunID) async -> Report? {
        guard let report = await scheduler.report(of: run), let row = try? await index.run(run),
            row.summary.isArchived, row.summary.verdict == report.verdict
        else { return nil }
        return report
    }

    /// Starts no further runs; ``work(untilIdle:)`` returns when those that run have ended.
    ///
    /// Steps that wait for approval are sent away, because nobody knows when that would end.
    public func drain() async {
        await scheduler.drain()
        waiters.close()
    }

    /// Ends all running runs, with grace, as cancelled.
    public func cancelAll(_ reason: String) async { await scheduler.cancelAll(reason) }

    /// Starts runs as they come until the box drains; with `untilIdle`, until nothing waits or runs.
    ///
    /// - Returns: The reports of the runs that ended meanwhile.
    @discardableResult
    public func work(untilIdle: Bool = false) async throws -> [Report] {
        // What a crash left between a run's end and what follows from it.
        await settleFixes()
        let reports = try await scheduler.events.deliver(to: listeners()) {
            try await scheduler.work(untilIdle: untilIdle, self, background)
        }
        await reaper?.close()
        await archive.export()
        return reports
    }

    /// Those who do what follows from the end of a run.
    private func listeners() -> [any RunListener] {
        var listeners: [any RunListener] = [
            ChangeStateListener(index: index, log: log),
            CauseListener(index: index, log: log) { [turnedRed] in turnedRed.yield($0) },
            background,
            FixListener { await self.settleFixes() },
        ]
        if options.writesNotes { listeners.append(NoteListener(log: log)) }
        if background.settings.runsTargets {
            listeners.append(FlakeProbe { [background] in await background.enqueue($0) })
        }
        return listeners
    }

    /// Whether the state folder's disk has room for another run; says so once when it has not, and when it has again.
    func hasSpace() -> Bool {
        let wanted = options.keptFreeBytes
        guard let free = DiskSpace.free(at: state.path), free < wanted else {
            if spaceWarning {
                log.notice("there is enough space at \(state.path) again: runs continue")
                // Whoever asks finds out; it need not be the one that starts runs.
                scheduler.wakeUp()
            }
            spaceWarning = false
            return true
        }
        if !spaceWarning {
            spaceWarning = true
            log.error(
                "no run can start: \(free >> 20) MiB are free at \(state.path), \(wanted >> 20) MiB are needed. Free space, or remove old runs with `pipectl gc`; until then runs wait."
            )
        }
        return false
    }

    /// Why no run starts although some wait, or nil.
    public func obstacle() async -> String? {
        if !hasSpace() { return "the disk of \(state.path) is nearly full" }
        if await scheduler.isDraining { return "the daemon is shutting down" }
        return troubles.sorted { $0.key < $1.key }.first?.value
    }

    func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report {
        do {
            let pipeline = pipeline(try await programs(), await sandboxing())
            let repository = try await repository(of: run.request)
            if run.request.upkeep == .refresh { await bases.noteTry(run.id) }
            let report = await pipeline.run(
                RunTask(
                    run: run, repository: repository, rules: try await rules(for: repository), stop: stop,
                    place: await place(for: run, in: repository), startedAt: Date()))
            await sayEnd(of: run.id)
            scheduler.events.publish(.ended(run.id))
            return report
        } catch {
            var report = Report(starting: run, at: Date())
            report.reason = "the build box could not start it: \(error)"
            report.endedAt = Date()
            _ = await recorder.record(report, run.request)
            scheduler.events.publish(.ended(run.id))
            return report
        }
    }

    /// Says how a run ended; of one that was put back, nothing.
    private func sayEnd(of id: RunID) async {
        guard let run = try? await index.run(id), let line = RunEndLine.text(run) else { return }
        log.info("\(line)")
    }

    /// Accepts a run that was asked for by hand.
    func accept(_ request: RunRequest) async throws -> EnqueueOutcome {
        let outcome = try await index.enqueue(request)
        await displace(outcome.superseded, outcome.toCancel)
        return outcome
    }

    /// Carries out what the index decided when it took runs in: those that waited have ended, those that run are stopped,
    /// and the new ones may start.
    func displace(_ superseded: [Supersession], _ toCancel: [Supersession]) async {
        scheduler.wakeUp()
        for one in toCancel { scheduler.stop(of: one.run)?.stop(StopRequest(.superseded, reason: one.reason)) }
        for one in superseded { board.wake(one.run) }
        if !superseded.isEmpty {
            await archiveUnstarted()
            await settleFixes()
        }
        // Something may have been accepted, or seen and not wanted: who waits for a verdict looks again.
        board.news.tellAll()
    }

    /// Ends a run, waiting or running; returns what happened as a sentence.
    func cancel(_ id: RunID, reason: String) async throws -> CompletedAction.CancelResult {
        // The index first: a run that was put back to wait for a person may still be among the running ones here.
        if try await index.cancelQueued(id, reason: reason) {
            board.wake(id)
            await archiveUnstarted()
            await settleFixes()
            return .beforeStart
        }
        // Its verdict is given before its folders are gone, and only then is it not running here.
        if let signal = scheduler.stop(of: id), try await index.run(id)?.summary.verdict == nil {
            signal.stop(StopRequest(.cancelled, reason: reason))
            return .stopping
        }
        return .hadEnded
    }
}

extension Box: SchedulerHost {
    func hasRoom() -> Bool { hasSpace() }

    func noteClaim(_ error: (any Error)?) {
        let what = "no run can be started"
        if let error { noteTrouble(what, error) } else { clearTrouble(what) }
    }

    func noteEnd(of run: RunID) { board.wake(run) }
    func stopWaiting() async { waiters.close() }
}
