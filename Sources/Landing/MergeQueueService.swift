import DaemonLog
package import Watching
package import Running
import Concurrency
import Foundation
import Git
package import Logging
import MergeQueue
import Results
import Store

/// Processes the merge queues of all watched repositories, with one task for each repository.
package struct MergeQueueService: Sendable {
    let watchers: Watchers
    let queues: MergeQueues
    let declarations: LandingDeclarations
    let runs: RunQueue
    let forge: any MergingForge
    let log: Logger

    package init(
        watchers: Watchers, queues: MergeQueues, declarations: LandingDeclarations, runs: RunQueue,
        forge: any MergingForge, log: Logger
    ) {
        self.watchers = watchers
        self.queues = queues
        self.declarations = declarations
        self.runs = runs
        self.forge = forge
        self.log = log
    }

    /// Processes the queues until the task is cancelled.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for watcher in watchers.all {
                group.addTask { await lane(watcher).run() }
            }
        }
    }

    private func lane(_ watcher: RepositoryWatcher) -> MergeQueueLane {
        MergeQueueLane(
            repository: watcher.repository, queues: queues, declarations: declarations, runs: runs, forge: forge,
            log: log, look: { await watcher.lookNow() })
    }
}

/// Processes the merge queues of one repository: executes their actions one after the other.
///
/// The actions follow from the stored state and from the observed target. So after the process was killed at any point,
/// the next one continues.
actor MergeQueueLane {
    private let repository: WatchedRepository
    private let queues: MergeQueues
    private let declarations: LandingDeclarations
    private let runs: RunQueue
    private let forge: any MergingForge
    private let log: Logger
    /// Observes the repository. The result tells whether the observation is complete.
    private let look: @Sendable () async -> Bool
    private var progress = Progress()

    /// How it goes on at the moment.
    private struct Progress {
        /// Whether the target may have moved since the last observation.
        var needsLook = true
        var failures = 0
        /// Number of consecutive pushes, or orders to merge, that were rejected.
        var rejections = 0
        /// The branches whose forge is not asked before a time.
        var pauses: [String: Pause] = [:]
    }

    private struct Pause {
        var until: ContinuousClock.Instant
        /// How often in a row the forge was asked in vain.
        var count: Int
    }

    /// After this many rejections, the queue freezes and a person has to resume it.
    private static let rejectionLimit = 3
    private static let longestPause = Duration.seconds(300)
    /// A forge that asks for a longer pause than this is asked nevertheless.
    private static let longestForgePause = Duration.seconds(3_600)

    init(
        repository: WatchedRepository, queues: MergeQueues, declarations: LandingDeclarations, runs: RunQueue,
        forge: any MergingForge, log: Logger, look: @escaping @Sendable () async -> Bool
    ) {
        self.repository = repository
        self.queues = queues
        self.declarations = declarations
        self.runs = runs
        self.forge = forge
        self.log = log
        self.look = look
    }

    /// Runs until the task is cancelled.
    func run() async {
        await sweep()
        while !Task.isCancelled {
            let seen = runs.board.news.mark(of: [])
            do {
                try await settle()
                progress.failures = 0
            } catch is CancellationError {
                return
            } catch {
                progress.failures += 1
                say("the merge queue does not go on", progress.failures, error)
            }
            let failures = progress.failures
            var pause = failures == 0 ? Self.longestPause : min(.seconds(1 << min(failures, 8)), Self.longestPause)
            if let next = progress.pauses.values.map(\.until).min() {
                pause = min(pause, max(next - .now, .milliseconds(50)))
            }
            await runs.board.news.wait(since: seen, atMost: pause, isUrgent: failures == 0)
        }
    }

    /// Logs the first failure and then every tenth, as for a repository that can't be read.
    private func say(_ what: String, _ count: Int, _ error: any Error) {
        guard count % 10 == 1 else { return }
        log.error(
            "\(repository.name): \(what) (\(count) times in a row): \(error)",
            metadata: .code(.queueStopped, repository: repository.name))
    }

    /// Cancels runs that an earlier process started and that no queue needs any more, and removes refs that a power cut
    /// left incomplete.
    private func sweep() async {
        do {
            try await withRepository(at: repository.store) { $0.forgetTorn(under: BranchLane.pins) }
            let wanted = try await queues.all(of: repository.name).reduce(into: Set<RunID>()) {
                $0.formUnion($1.state.wantedRuns)
            }
            for run in try await queues.index.queued()
            where run.request.repository == repository.name && run.request.landing != nil && !wanted.contains(run.id) {
                _ = try await runs.cancel(run.id, reason: "the merge queue tests something else now")
            }
        } catch {
            log.warning(
                "\(repository.name): runs of an earlier merge queue may go on: \(error)",
                metadata: .code(.queueStopped, repository: repository.name))
        }
    }

    /// Does everything that can be done now.
    func settle() async throws {
        for queue in try await queues.all(of: repository.name) {
            let branch = queue.branch
            if let pause = progress.pauses[branch], pause.until > .now { continue }
            do {
                try await settle(
                    BranchLane(
                        repository: repository, branch: branch, queues: queues, declarations: declarations,
                        runs: LandingRuns(
                            index: queues.index, queue: runs, repository: repository.name, branch: branch),
                        forge: forge, log: log))
                progress.pauses[branch] = nil
            } catch let pause as LandingPause {
                // The queues of other branches go on.
                let count = (progress.pauses[branch]?.count ?? 0) + 1
                let wanted = Duration.seconds(max(pause.until?.timeIntervalSinceNow ?? 0, 0))
                let least = min(Duration.seconds(1 << min(count, 8)), Self.longestPause)
                progress.pauses[branch] = Pause(
                    until: .now + min(max(wanted, least), Self.longestForgePause), count: count)
                say("change lands in \(branch) later", count, pause)
            }
        }
    }

    private func settle(_ lane: BranchLane) async throws {
        var hasOrdered = false
        while let state = try await queues.queue(of: repository.name, branch: lane.branch),
            !state.entries.isEmpty || state.intent != nil
        {
            // A forge merges on top of whatever is there, so the target is looked at just before.
            if progress.needsLook || state.intent?.isByForge == true {
                guard await look() else { throw LandingObstacle(reason: "the repository can't be read now") }
                progress.needsLook = false
            }
            guard let step = try await lane.step(state) else { break }
            if step == .ordered, hasOrdered {
                throw LandingPause(reason: "the forge has merged a change that is not in \(lane.branch) yet")
            }
            hasOrdered = step == .ordered
            try await note(step, lane)
        }
    }

    private func note(_ step: BranchLane.Step, _ lane: BranchLane) async throws {
        switch step {
        case .changed: break
        case .landed, .ordered:
            // The repository is observed after each landing, so that each landing starts its own release.
            (progress.needsLook, progress.rejections) = (true, 0)
        case .rejected(let reason):
            progress.rejections += 1
            progress.needsLook = true
            guard progress.rejections >= Self.rejectionLimit else {
                throw LandingObstacle(reason: reason)
            }
            progress.rejections = 0
            try await lane.apply(.refused(reason))
        case .unknown(let reason):
            progress.needsLook = true
            throw LandingObstacle(reason: reason)
        }
    }
}

/// Why a queue can't continue now.
struct LandingObstacle: Error, CustomStringConvertible {
    var reason: String
    var description: String { reason }
}

extension ChangeNotifier {
    /// Waits until a change is notified or the time is over.
    ///
    /// - Parameter isUrgent: Whether a notification ends the wait; otherwise it always lasts for `limit`.
    func wait(since mark: Mark, atMost limit: Duration, isUrgent: Bool) async {
        await withTaskGroup(of: Void.self) { group in
            if isUrgent { group.addTask { await self.wait(since: mark) } }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
