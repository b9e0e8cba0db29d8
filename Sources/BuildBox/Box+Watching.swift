public import StateFiles
import Control
import Archive
public import Results
import Store

import Foundation
import Git
import Logging
import Pipeline

extension Box {
    /// Gets ready to watch: opens each location and checks that it can be served.
    ///
    /// - Throws: What is wrong with the first one that can't be, with the remedy.
    public func prepareToWatch(_ requests: [WatchRequest]) async throws {
        for request in requests {
            let repository: WatchedRepository
            do {
                repository = try await open(request.location, preferring: request.name)
            } catch let error as GitError {
                throw RequestError(.unknownRepository, "\(request.location) can't be watched: \(error.description)")
            }
            watchers[repository.name] = try RepositoryWatcher(
                repository, box: self, options: request.options, log: log)
        }
    }

    /// Watches, answers commands and runs what comes until the box drains.
    ///
    /// - Parameter whenReady: Called once commands are answered.
    public func serve(whenReady: @escaping @Sendable () async -> Void = {}) async throws {
        let sandboxing = await sandboxing()
        if let obstacle = sandboxing.obstacle {
            log.error(
                "no sandbox is possible on this machine: \(obstacle) \(options.allowsUnsandboxed ? "Changes run with all rights of this user (--allow-unsandboxed)." : "Changes are refused.")"
            )
        } else {
            log.info("sandbox: \(sandboxing.description); limits: \(sandboxing.limits)")
        }
        let socket = try state.prepareSocket()
        let server = DaemonServer<DaemonRequest, DaemonReply>(path: socket, waits: \.waits) { request, replies in
            // The listener lets nobody in whose user it does not know.
            try await self.answer(request, by: replies.user ?? UInt32.max) { try await replies.send($0) }
        }
        let watchers = Array(watchers.values)
        let makesSnapshots = options.refreshesBases && options.baseBytes > 0 && sandboxing.layering != nil
        background.settings = .init(makesSnapshots: makesSnapshots, runsTargets: options.refreshesBases)
        store.beginJournal()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [store] in
                await store.keepFlushing { await self.flushArchive() }
                return false
            }
            group.addTask {
                try await server.run(whenListening: whenReady)
                return false
            }
            for watcher in watchers {
                group.addTask {
                    await watcher.run()
                    return false
                }
            }
            group.addTask {
                await ScheduleClock(watchers: watchers).run()
                return false
            }
            group.addTask {
                while !Task.isCancelled {
                    await self.maintainArchive()
                    do { try await Task.sleep(for: .seconds(3_600)) } catch { break }
                }
                return false
            }
            group.addTask {
                await self.keepGoing()
                return false
            }
            group.addTask {
                await self.keepBackups()
                return false
            }
            if options.notify.isWanted, !watchers.isEmpty {
                let notifier = Notifier(
                    index: index, options: options.notify,
                    target: NotifyTarget(options: options.notify, folder: state.live), news: board.news, log: log)
                group.addTask {
                    await notifier.run()
                    return false
                }
            }
            group.addTask {
                await self.bases.clear()
                return false
            }
            if makesSnapshots {
                group.addTask { [background, options] in
                    await background.keepClean(every: options.cleanRoomInterval)
                    return false
                }
            }
            if !watchers.isEmpty {
                group.addTask {
                    await self.keepBisecting()
                    return false
                }
            }
            group.addTask {
                await self.keepStandbys()
                return false
            }
            group.addTask {
                await self.keepSweeping()
                return false
            }
            group.addTask {
                try await self.work()
                return true
            }
            // The dispatcher's end is the box's end; an error of any part is too.
            while let isDone = try await group.next(), !isDone {}
            group.cancelAll()
            do { while try await group.next() != nil {} } catch is CancellationError {}
        }
        await backUpIfDue()
        await checkpoint()
    }

    /// What one look came to.
    public struct LookOutcome: Sendable {
        /// Of all runs that ended.
        public var reports: [Report]
        /// Runs that could start and did not, and why.
        public var waiting: [RunID]
        public var obstacle: String?
    }

    /// One look at each repository; runs what it started, to the end.
    public func lookOnce() async throws -> LookOutcome {
        for watcher in watchers.values { try await watcher.look() }
        store.beginJournal()
        _ = await makeSpace()
        let reports = try await work(untilIdle: true)
        await flushArchive()
        // What has ended is said also where this can't be found out.
        let waiting = ((try? await index.queued()) ?? []).filter { $0.waitsFor == nil }.map(\.id)
        return LookOutcome(reports: reports, waiting: waiting, obstacle: waiting.isEmpty ? nil : await obstacle())
    }

    /// Wakes every watcher, as SIGHUP does.
    public func lookAtAll() { for watcher in watchers.values { watcher.wakeUp() } }
}

/// Starts what is due by the clock, once a minute.
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

extension StateFolder {
    /// Renames the index, damaged or not, so that a new one can be made; returns the name that it has now.
    public func setIndexAside() throws -> String? {
        let stamp = Int(Date().timeIntervalSince1970)
        let kept = "\(index).\(stamp)"
        // The write-ahead log belongs to its database: the three move together.
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: index + suffix) {
            try FileManager.default.moveItem(atPath: index + suffix, toPath: kept + suffix)
        }
        return FileManager.default.fileExists(atPath: kept) ? kept : nil
    }
}
