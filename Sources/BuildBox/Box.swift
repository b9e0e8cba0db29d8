public import Results
public import Store
public import Archive
public import Logging

import Engine
import Foundation
import Git
import Pipeline
import Synchronization

/// The build box: owns the state folder, watches repositories, queues runs and takes each to its verdict.
public actor Box {
    public let state: StateFolder
    public let index: Store.Index
    public let store: ArchiveStore
    public let options: BoxOptions

    /// The workspaces that runs begin from.
    let bases: BaseStore
    /// What failed runs left.
    let kept: KeptStore
    let board = LiveBoard()
    let desk = ApprovalDesk()
    let log: Logger
    let pool: SlotPool
    var repositories: [String: WatchedRepository] = [:]
    var watchers: [String: RepositoryWatcher] = [:]

    /// Made when the box begins to serve: a process that runs one thing and ends has no use for it.
    private(set) var standbys: Standbys?
    /// Nil unless ``keepSweeping()`` goes on, or has.
    private(set) var leftovers: Leftovers?
    private let stepInit: String
    private let executable: String?
    private var cache: ProgramCache?
    private(set) var found: Sandboxing?
    private let lock: StateLock
    private var running: [RunID: StopSignal] = [:]
    /// Those of them that nobody waits for.
    private var upkeep: Set<RunID> = []
    /// Those that give way as soon as somebody waits for anything.
    private var learning: Set<RunID> = []
    /// Tests that turned red, for ``keepBisecting()``.
    let redTests: AsyncStream<BisectRequest>
    private let turnedRed: AsyncStream<BisectRequest>.Continuation
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private var isDraining = false
    /// Whether ``cancelAll(_:)`` was called; for runs that wait for nothing but the disk.
    private let isEnding = Mutex(false)
    /// Whether the disk refused to flush the archive the last time.
    var isArchiveUnflushed = false
    /// The last one that archives runs that never started.
    var archiving: Task<Void, Never>?
    /// Only these may start; nil means all. A foreground run must not start what a daemon left behind.
    private var mayStart: Set<RunID>?
    /// Of those that have ended.
    private var ownReports: [RunID: Report] = [:]
    /// Whether something is to follow for fixes, and somebody sees to it.
    var fixesAreDue = false
    var isSettlingFixes = false
    private var spaceWarning = false
    /// What happens to runs, for those who do what follows from it.
    let events: EventStream
    /// Runs that the daemon wants for itself.
    private(set) lazy var background = BackgroundWork(
        index: index, bases: bases, log: log,
        freeBytes: { [state, options] in (BoxTools.freeBytes(at: state.path) ?? .max) - options.keptFreeBytes }
    ) { [weak self] request in
        guard let self else { throw CancellationError() }
        return try await self.accept(request)
    }
    /// What can't be done now for want of something of this machine: what it is, and the sentence about it.
    var troubles: [String: String] = [:]
    let ballast: Ballast
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
        let ballast = Ballast(path: state.ballast)
        // Without room nothing can be begun, not even the lock's note.
        if let free = BoxTools.freeBytes(at: state.path), free < 1 << 20 { _ = ballast.giveUp() }
        lock = try StateLock.acquire(state, purpose: purpose)
        for path in DeadLeftovers.clear(state, olderThan: Date()) {
            log.notice("removed \(path), left by a pipectl that was killed")
        }
        stepInit = try BoxTools.stepInit(beside: executable)
        self.executable = executable
        self.ballast = ballast
        store = try ArchiveStore(home: state.path)
        for id in try await store.recover() {
            log.notice("run \(id) was being archived at a power loss; its missing files were written again")
        }
        index = try await Box.openIndex(state, store)
        let found = KeptStore.find(in: state.kept, bases: state.bases)
        bases = BaseStore(
            folder: state.bases, limit: options.baseBytes, log: log,
            held: found.flatMap { $0.folders(below: state.bases) })
        kept = KeptStore(
            folder: state.kept, lifetime: options.keepFailed, limit: options.keptBytes, found: found, bases: bases,
            log: log)
        pool = SlotPool(slots: options.slots, capacities: options.capacities)
        // More than anybody would read the answers of; the newest are asked about again when they are still red.
        (redTests, turnedRed) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(100))
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        events = EventStream(onIdle: { [wake] in wake.yield() })
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
    func keepStandbys() async {
        let made = Standbys(state: state, options: options, log: log) { await self.sandboxing() }
        standbys = made
        await made.run()
        standbys = nil
    }

    /// Removes what ended runs left, until the task is cancelled.
    func keepSweeping() async {
        let made = Leftovers()
        leftovers = made
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
        let leftovers = [state.workspaces, state.live].flatMap { folder in
            ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).map { "\(folder)/\($0)" }
        }
        for leftover in leftovers { try? await Workspace.remove(leftover) }
        await kept.clear()
    }

    /// The compiled workflows. Made when first wanted, so that reports can be read where no compiler is.
    func programs() async throws -> ProgramCache {
        if let cache { return cache }
        let library = try PipelineLibrary.find(beside: executable)
        let toolchain = try await toolchain()
        let made = ProgramCache(
            directory: state.programs, library: library, toolchain: toolchain,
            confinement: await sandboxing().confinement)
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
            stepInit: stepInit, toolchain: try? await toolchain(), options: options, state: state
        ).sharingSettings(in: state.settings)
        let kept = found ?? tried
        found = kept
        return kept
    }

    // MARK: The queue

    /// Restricts what ``work(untilIdle:)`` starts to the given runs.
    public func startOnly(_ runs: Set<RunID>) { mayStart = (mayStart ?? []).union(runs) }

    /// The report of a named run that has ended here and is archived.
    public func archivedReport(of run: RunID) async -> Report? {
        guard let report = ownReports[run], let row = try? await index.run(run), row.summary.isArchived,
            row.summary.verdict == report.verdict
        else { return nil }
        return report
    }

    /// Whether only named runs may start here: ``startOnly(_:)``.
    var isRestricted: Bool { mayStart != nil }

    /// Whether this process has to do with the run at all.
    func isMine(_ run: RunID) -> Bool { mayStart?.contains(run) ?? true }

    /// Tells the dispatcher that something may start.
    public func wakeUp() { wake.yield() }

    /// Starts no further runs; ``work(untilIdle:)`` returns when those that run have ended.
    ///
    /// Steps that wait for a person are sent away, because nobody knows when that would end.
    public func drain() async {
        isDraining = true
        wake.yield()
        await desk.close()
    }

    /// Ends all running runs, with grace, as cancelled.
    public func cancelAll(_ reason: String) {
        isDraining = true
        isEnding.withLock { $0 = true }
        for (_, signal) in running { signal.stop(StopRequest(.shutdown, reason: reason)) }
        wake.yield()
    }

    /// Starts runs as they come until the box drains; with `untilIdle`, until nothing waits or runs.
    ///
    /// - Returns: The reports of the runs that ended meanwhile.
    @discardableResult
    public func work(untilIdle: Bool = false) async throws -> [Report] {
        // What a crash left between a run's end and what follows from it.
        await settleFixes()
        return try await events.deliver(to: listeners()) { try await dispatch(untilIdle: untilIdle) }
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

    private func dispatch(untilIdle: Bool) async throws -> [Report] {
        try await withThrowingTaskGroup(of: Report?.self) { group in
            // One child turns wake-ups into a task that ends, so that a single `next()` waits for both.
            let wakes = self.wakes
            func listen() {
                group.addTask {
                    for await _ in wakes { return nil }; return nil
                }
            }
            listen()
            var reports: [Report] = []
            var active = 0
            while true {
                // Looked at first: a run that a listener queues after this wakes the dispatcher.
                let isQuiet = events.isIdle
                // A run in which everything waits for a person does nothing; it must not keep others from starting, and
                // nor must one that only the box itself wants. One whose steps have ended needs the disk more than the
                // processor; as many may do so as may run.
                while !isDraining,
                    active - board.parked - upkeep.count - min(board.settled, options.runs)
                        < options.runs,
                    let run = untilIdle ? try await claim() : await patientClaim()
                {
                    active += 1
                    let signal = StopSignal()
                    running[run.id] = signal
                    if run.request.upkeep != nil { upkeep.insert(run.id) } else { stopLearning(for: run.id) }
                    if run.request.upkeep == .learn { learning.insert(run.id) }
                    group.addTask { await self.execute(run, signal) }
                }
                if active == 0 && (isDraining || untilIdle && isQuiet) { break }
                if untilIdle, isQuiet, !isDraining, active > 0, board.parked == active {
                    // Nobody can reach this process to approve: the runs keep their place for the next one.
                    await drain()
                }
                guard let ended = try await group.next() else { break }
                if let report = ended {
                    active -= 1
                    running[report.id] = nil
                    upkeep.remove(report.id)
                    learning.remove(report.id)
                    board.forget(report.id)
                    if untilIdle || mayStart != nil { reports.append(report) }
                    if mayStart != nil { ownReports[report.id] = report }
                    board.wake(report.id)
                } else {
                    if Task.isCancelled { isDraining = true } else { listen() }
                }
            }
            group.cancelAll()
            await leftovers?.close()
            return reports
        }
    }

    /// Ends runs that only learn; they are wanted again when the box is idle again.
    private func stopLearning(for id: RunID) {
        for one in learning {
            running[one]?.stop(StopRequest(.preempted, reason: "stopped for run \(id), which has priority"))
        }
    }

    private func claim() async throws -> QueuedRun? {
        guard hasSpace() else { return nil }
        if let mayStart {
            let waiting = try await index.queued().filter {
                mayStart.contains($0.id) && $0.waitsFor == nil && running[$0.id] == nil
            }
            guard var run = waiting.first else { return nil }
            run.attempt = try await index.markRunning(run.id)
            return run
        }
        // One that was just put back, and approved already, must have left its folders before it starts again.
        // Who waits for a person may do so for days.
        let run = try await index.claimNext(
            excluding: Set(running.keys), isIdle: running.count <= board.parked,
            prefersMissed: background.mayMissSnapshots)
        if run?.request.isMissed != true { background.mayMissSnapshots = false }
        return run
    }

    /// The next run, or nil also when it can't be found out now: ``keepGoing()`` asks again.
    private func patientClaim() async -> QueuedRun? {
        do {
            let run = try await claim()
            clearTrouble("no run can be started")
            return run
        } catch {
            noteTrouble("no run can be started", error)
            return nil
        }
    }

    /// Whether the state folder's disk has room for another run; says so once when it has not, and when it has again.
    func hasSpace() -> Bool {
        let wanted = options.keptFreeBytes
        guard let free = BoxTools.freeBytes(at: state.path), free < wanted else {
            if spaceWarning {
                log.notice("there is enough space at \(state.path) again: runs continue")
                // Whoever asks finds out; it need not be the one that starts runs.
                wake.yield()
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
    public func obstacle() -> String? {
        if !hasSpace() { return "the disk of \(state.path) is nearly full" }
        if isDraining { return "the daemon is shutting down" }
        return troubles.sorted { $0.key < $1.key }.first?.value
    }

    private func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report {
        do {
            let executor = RunExecutor(
                state: state, index: index, store: store, programs: try await programs(), pool: pool, board: board,
                options: options, stepInit: stepInit, sandboxing: await sandboxing(), log: log, desk: desk,
                standbys: standbys, leftovers: leftovers, bases: bases, kept: kept,
                events: events,
                isEnding: { self.isEnding.withLock { $0 } },
                wake: { [wake] in wake.yield() },
                bundle: { try await self.bundle($0) })
            let repository = try await repository(of: run.request)
            if run.request.upkeep == .refresh { await bases.noteTry(run.id) }
            let report = await executor.execute(
                run, in: repository, rules: try await rules(for: repository), stop: stop)
            await sayEnd(of: run.id)
            events.publish(.ended(run.id))
            return report
        } catch {
            var report = Report(starting: run, at: Date())
            report.reason = "the build box could not start it: \(error)"
            report.endedAt = Date()
            let recorder = RunRecorder(
                state: state, index: index, store: store, options: options, log: log,
                isEnding: { self.isEnding.withLock { $0 } })
            _ = await recorder.record(report, run.request)
            events.publish(.ended(run.id))
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
        wake.yield()
        for one in toCancel { running[one.run]?.stop(StopRequest(.superseded, reason: one.reason)) }
        for one in superseded { board.wake(one.run) }
        if !superseded.isEmpty {
            await archiveUnstarted()
            await settleFixes()
        }
        // Something may have been accepted, or seen and not wanted: who waits for a verdict looks again.
        board.news.tellAll()
    }

    /// Ends a run, waiting or running; returns what happened as a sentence.
    func cancel(_ id: RunID, reason: String) async throws -> String {
        // The index first: a run that was put back to wait for a person may still be among the running ones here.
        if try await index.cancelQueued(id, reason: reason) {
            board.wake(id)
            await archiveUnstarted()
            await settleFixes()
            return "cancelled run \(id) before it started"
        }
        // Its verdict is given before its folders are gone, and only then is it not running here.
        if let signal = running[id], try await index.run(id)?.summary.verdict == nil {
            signal.stop(StopRequest(.cancelled, reason: reason))
            return "cancelling run \(id)"
        }
        return "run \(id) has already ended"
    }
}
