import DaemonLog
import Watching
import Running
import Workspaces
import Engine
import Results
import Store
import Foundation
import Logging
import Pipeline
import Synchronization

/// Queues background runs, which use idle time: they make missed snapshots, run targets for comparison, and check
/// snapshots with fresh runs.
actor BackgroundWork: RunListener {
    /// Which background runs are made.
    struct Settings: Sendable, Equatable {
        /// A daemon makes snapshots by itself; `watch --once` and runs by hand do not.
        var makesSnapshots = false
        /// Whether a target is run for comparison if the archive has no run of it.
        var runsTargets = false
    }

    nonisolated let name = "background work"
    nonisolated let capacity = 1_000

    private let index: Store.Index
    private let snapshots: SnapshotStore
    private let log: Logger
    private let accept: @Sendable (RunRequest) async throws -> EnqueueOutcome
    private let freeBytes: @Sendable () -> Int
    private nonisolated let state = Mutex(Settings())

    /// - Parameters:
    ///   - accept: Queues a run.
    ///   - freeBytes: Returns the free bytes beyond those that the daemon keeps free.
    init(
        index: Store.Index, snapshots: SnapshotStore, log: Logger, freeBytes: @escaping @Sendable () -> Int,
        accept: @escaping @Sendable (RunRequest) async throws -> EnqueueOutcome
    ) {
        self.index = index
        self.snapshots = snapshots
        self.log = log
        self.freeBytes = freeBytes
        self.accept = accept
    }

    nonisolated var settings: Settings {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Whether a queued run may make a snapshot that runs of changes miss.
    nonisolated let missed = MissedSnapshots()

    nonisolated func wants(_ event: DaemonEvent) -> Bool {
        switch event {
        case .snapshotMissed: settings.makesSnapshots
        case .recorded(let run): settings.runsTargets && !run.wantedRuns.isEmpty || needsCleanRoom(run)
        case .step, .unstarted, .ended: false
        }
    }

    func receive(_ event: DaemonEvent) async {
        switch event {
        case .snapshotMissed(let wanted): await refresh(wanted)
        case .recorded(let run):
            if settings.runsTargets { for request in run.wantedRuns { await enqueue(request) } }
            guard needsCleanRoom(run), let branch = run.request.branch else { return }
            await enqueue(.cleanBuild(after: run.report, branch: branch, definition: run.request.definitionCommit))
        case .step, .unstarted, .ended: break
        }
    }

    /// The next run misses the same snapshot again.
    func missed(_ count: Int) async {
        log.debug("\(count) wishes for background runs are dropped", metadata: .code(.eventsMissed))
    }

    /// Whether merged code failed in a warm workspace. If it passes in a fresh one, the workspace is broken, and every
    /// run would start from it until the code changes.
    private nonisolated func needsCleanRoom(_ run: RecordedRun) -> Bool {
        let (report, request) = (run.report, run.request)
        return settings.makesSnapshots && report.verdict == .failed && report.base != nil && report.trust == .merged
            && request.change == nil && !request.isPartial && [nil, .warmUp].contains(request.background)
    }

    /// Requests a snapshot again if the one of an earlier run was lost.
    private func refresh(_ wanted: MissedSnapshot) async {
        if let machine = wanted.machine {
            // Once for each commit: the next one is tried whatever became of this one.
            guard !snapshots.elsewhere.has(wanted.key, at: wanted.commit, on: machine) else { return }
            await enqueue(.warmUp(wanted))
            return
        }
        guard await !snapshots.has(wanted.key, at: wanted.commit) else { return }
        let room = freeBytes()
        var request = RunRequest.warmUp(wanted)
        let isMissed = await !snapshots.has(wanted.key)
        request.kind = .warmUp(isMissed: isMissed)
        if isMissed { missed.mayWait = true }
        while let earlier = await enqueue(request) {
            guard let summary = try? await index.run(earlier)?.summary else { return }
            if isMissed, summary.state == .queued { try? await index.setMissed(earlier) }
            switch summary.verdict {
            case .passed:
                guard await snapshots.isLost(ofRun: earlier, tools: wanted.key.tools, room: room) else { return }
            // It says nothing about the commit, and the cause may still exist.
            case .infrastructure: guard summary.endedAt.map({ $0 + 3_600 < Date() }) == true else { return }
            default: return
            }
            request.nonce = "refresh after run \(earlier)"
        }
    }

    /// Tests the trees of snapshots in fresh workspaces, each once per interval, until the task is cancelled.
    func keepClean(every interval: Duration) async {
        while !Task.isCancelled {
            await snapshots.flush()
            var known: Set<SnapshotKey> = []
            let here = await snapshots.all.map(\.facts).filter { known.insert($0.key).inserted }
            let all = here.map { (machine: String?.none, facts: $0) } + snapshots.elsewhere.newest
            for (machine, snapshot) in all {
                let age = Duration.seconds(Date().timeIntervalSince(snapshot.cleanAt))
                // A snapshot with a time in the future shows that the clock was set back.
                if age >= interval || age < .seconds(-3_600) {
                    let time = Int(age.inSeconds / max(interval.inSeconds, 1))
                    await enqueue(.cleanBuild(of: snapshot, on: machine, time: time))
                }
            }
            do { try await Task.sleep(for: min(Duration.seconds(600), interval)) } catch { return }
        }
    }

    /// Queues a background run.
    ///
    /// - Returns: An existing run of the same request; nil if this one is new or could not be queued.
    @discardableResult
    func enqueue(_ request: RunRequest) async -> RunID? {
        do {
            let outcome = try await accept(request)
            guard outcome.isNew else { return outcome.run.id }
            log.info(
                "\(request.repository): run \(outcome.run.id) \(request.workflow), \(request.subjectInWords)",
                metadata: .code(.runQueued, run: outcome.run.id, repository: request.repository))
        } catch {
            log.warning(
                "\(request.repository): \(request.subject) could not be queued: \(error)",
                metadata: .code(.queueingFailed, repository: request.repository))
        }
        return nil
    }
}
