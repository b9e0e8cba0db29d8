import ForgeConnection
import Landing
import DaemonLog
import Running
import Settings
import Preparing
public import Watching
import Workspaces
import StateFiles
import Control
import Archive
import Delivery
import Concurrency
import Forges
import Secrets
import Foundation
import Git
import Logging
import Placing
public import Results
import ServiceLifecycle
import Store
import TaskService
import SystemPackage

/// The services of a daemon.
extension Daemon {
    /// Prepares to watch: opens each location and checks that it can be watched.
    ///
    /// - Throws: The error of the first location that can't be, with the remedy.
    public func prepareToWatch(_ requests: [WatchRequest]) async throws {
        let host = DaemonWatchHost(
            tools: tools, health: health, queue: queue, fixes: work.fixes, background: work.background,
            queues: self.requests.landings.queues, forges: self.requests.commands.forges.receivers)
        for request in requests {
            let repository: WatchedRepository
            do {
                repository = try await repositories.open(request.location, preferring: request.name)
            } catch let error as GitError {
                let place = ResolvedSettings.withoutUser(request.location)
                throw RequestError(.unknownRepository, "\(place) can't be watched: \(error.description)")
            }
            watchers.add(
                try RepositoryWatcher(
                    repository, host: host, index: state.index, trust: options.trust, options: request.options,
                    log: log))
        }
    }

    /// Watches, answers commands and runs queued runs until the daemon drains.
    ///
    /// - Parameter whenReady: Called once commands are answered.
    public func serve(whenReady: @escaping @Sendable () async -> Void = {}) async throws {
        let sandboxing = await tools.sandboxing()
        if let obstacle = sandboxing.obstacle {
            log.error(
                "no sandbox is possible on this machine: \(obstacle) \(options.allowsUnsandboxed ? "Changes run with all rights of this user (--allow-unsandboxed)." : "Changes are refused.")",
                metadata: .code(.noSandbox)
            )
        } else {
            log.info("sandbox: \(sandboxing.description); limits: \(sandboxing.limits)", metadata: .code(.sandboxFound))
        }
        await cancelAllocations()
        let socket = try state.folder.prepareSocket()
        var limits = DaemonLimits()
        // A task brings its files, as base64.
        limits.requestLine = (TaskDraft.largestCrash + TaskDraft.largestFiles) / 3 * 4 + (1 << 20)
        let server = DaemonServer<DaemonRequest, DaemonReply>(path: socket, limits: limits, waits: \.waits) {
            [requests] request, replies in
            // The listener refuses connections from unknown users.
            try await requests.answer(request, by: replies.user ?? UInt32.max) { try await replies.send($0) }
        }
        work.background.settings = .init(
            makesSnapshots: options.refreshesSnapshots && options.snapshotBytes > 0 && sandboxing.layering != nil,
            runsTargets: options.refreshesSnapshots)
        let backups = IndexBackups(
            index: state.index, folder: state.folder, health: health, archive: archive, log: log)
        var services: [any Service] = [
            UntilShutdown { [archive] in await archive.run() },
            UntilShutdown { try await server.run(whenListening: whenReady) },
            UntilShutdown { await backups.run() },
        ]
        services += watching() + maintenance()
        services += try forgeServices()
        let all =
            services.map {
                ServiceGroupConfiguration.ServiceConfiguration(service: $0, successTerminationBehavior: .ignore)
            }
            // The daemon ends with its runs. This service is the last one, so it shuts down before the others.
            + [.init(service: RunService(work: work), successTerminationBehavior: .gracefullyShutdownGroup)]
        try await ServiceGroup(configuration: ServiceGroupConfiguration(services: all, logger: log)).run()
        await archive.export()
        await backups.backUpIfDue()
        await backups.checkpoint()
    }

    /// Cancels what an earlier daemon left at Slurm, before a run asks for an allocation again.
    private func cancelAllocations() async {
        let names = try? await work.execution.pipelines.machines.cancelLeftovers(
            except: LeftRun.all(in: state.folder).map(\.left.trace))
        guard let names, !names.isEmpty else { return }
        log.notice(
            "cancelled \(names.joined(separator: ", ")) at Slurm, left by a pipectl that was killed",
            metadata: .code(.leftoversRemoved))
    }

    /// Services that wait for news of repositories.
    private func watching() -> [any Service] {
        let watchers = watchers.all
        var services: [any Service] = watchers.map { watcher in UntilShutdown { await watcher.run() } }
        services.append(UntilShutdown { await ScheduleClock(watchers: watchers).run() })
        guard !watchers.isEmpty else { return services }
        let (bisect, redTests) = (requests.commands.bisect, work.redTests.requests)
        services.append(UntilShutdown { await bisect.run(redTests) })
        services.append(UntilShutdown { [outside, news = board.news] in await outside.run(news) })
        services.append(UntilShutdown { [taskWatch] in await taskWatch.run() })
        let secrets = SecretStores(state: state.folder)
        let delivery = work.execution.pipelines.delivery
        let following = ReleaseFollowing(delivery) { name, repository in
            try await offThread { try secrets.value(of: name, for: repository) }
        }
        let releases = ReleaseWatch(following: following, records: delivery.records, news: board.news, log: log)
        services.append(UntilShutdown { await releases.run() })
        let landing = MergeQueueService(
            watchers: self.watchers, queues: requests.landings.queues, declarations: requests.landings.declarations,
            runs: queue,
            forge: DaemonMergingForge(
                merger: ForgeMerger(
                    index: state.index, credentials: ForgeCredentialStore(folder: FilePath(state.folder.forges)))),
            log: log)
        services.append(UntilShutdown { await landing.run() })
        services += watchers.map { watcher in
            let labels = LabelLandings(repository: watcher.repository, handler: requests.landings, log: log)
            return UntilShutdown { [news = board.news] in await labels.run(news) }
        }
        services += watchers.map { watcher in
            let conflicts = EarlyConflicts(
                repository: watcher.repository, index: state.index, log: log,
                isIdle: { [scheduler = work.scheduler] in scheduler.isIdle })
            return UntilShutdown { [news = board.news] in await conflicts.run(news) }
        }
        if options.notify.isWanted {
            let notifier = Notifier(
                index: state.index, options: options.notify,
                target: NotifyTarget(options: options.notify, folder: state.folder.live), news: board.news, log: log)
            services.append(UntilShutdown { await notifier.run() })
        }
        return services
    }

    /// Services that keep this machine ready for runs.
    private func maintenance() -> [any Service] {
        let pipelines = work.execution.pipelines
        let machine = MachineWatch(
            health: health, queue: queue, watchers: watchers, workspaces: workspaces,
            placement: pipelines.placement,
            memory: IdleMemory(index: state.index, health: health, board: board))
        let clusters = pipelines.machines.watch(for: pipelines.placement)
        let sandboxPool = SandboxPool(state: state.folder, folders: options.folders, log: log) { [tools] in
            await tools.sandboxing()
        }
        var services = [
            UntilShutdown { await machine.run() },
            UntilShutdown { await clusters.run() },
            UntilShutdown { [fixes = work.fixes, archive] in
                while !Task.isCancelled {
                    await fixes.sweep()
                    await archive.pack()
                    try await Task.sleep(for: .seconds(3_600))
                }
            },
            UntilShutdown { [workspaces] in await workspaces.snapshots.clear() },
            UntilShutdown { [workspaces] in await workspaces.keep(sandboxPool) },
            UntilShutdown { [workspaces] in await workspaces.keepSweeping() },
        ]
        if work.background.settings.makesSnapshots {
            services.append(
                UntilShutdown { [background = work.background, options] in
                    await background.keepClean(every: options.cleanRoomInterval)
                })
        }
        return services
    }

    /// The result of one observation of each repository.
    public struct LookOutcome: Sendable {
        /// The reports of all runs that ended.
        public var reports: [Report]
        /// Runs that could start and did not, and why.
        public var waiting: [RunID]
        public var obstacle: String?
    }

    /// Observes each repository once, and runs what that started to the end.
    public func lookOnce() async throws -> LookOutcome {
        for watcher in watchers.all { try await watcher.look() }
        _ = await workspaces.makeSpace(health)
        let reports = try await work.work(untilIdle: true)
        await archive.export()
        // Ended runs are reported even if this can't be read.
        let waiting = ((try? await state.index.queued()) ?? []).filter { $0.waitsFor == nil }.map(\.id)
        return LookOutcome(reports: reports, waiting: waiting, obstacle: waiting.isEmpty ? nil : await obstacle())
    }
}

/// Runs what is queued until the daemon drains; its shutdown is a drain.
struct RunService: Service {
    let work: RunWork

    func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await work.work()
                return true
            }
            group.addTask {
                // Throws if the work has ended by itself.
                do { try await gracefulShutdown() } catch { return false }
                await work.drain()
                return false
            }
            while let hasEnded = try await group.next(), !hasEnded {}
            group.cancelAll()
        }
    }
}

/// Starts scheduled runs, once a minute.
struct ScheduleClock: Sendable {
    let watchers: [RepositoryWatcher]

    func run() async {
        while !Task.isCancelled {
            let now = Date().timeIntervalSince1970
            let next = (Int(now) / 60 + 1) * 60
            do { try await Task.sleep(for: .seconds(Double(next) - now)) } catch { return }
            for watcher in watchers { await watcher.startScheduled(at: next) }
        }
    }
}
