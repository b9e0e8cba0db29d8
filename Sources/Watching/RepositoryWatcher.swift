import DaemonLog
package import Logging
import Pipeline
import Results
package import Store
import Workspaces

/// Observes one repository: when the kernel reports moved refs, when it is woken, and periodically.
package actor RepositoryWatcher {
    package nonisolated let repository: WatchedRepository
    private let observer: RepositoryObserver
    private let listener: RefListener
    private nonisolated let requests = LookRequests()
    private let index: Store.Index
    private let log: Logger
    private var failures = 0
    /// Whether the last observation failed because of this machine, which may change at any moment.
    package private(set) var failedForWantOfSomething = false

    /// - Throws: ``RequestError`` if a pattern of `options` is invalid.
    package init(
        _ repository: WatchedRepository, host: any WatchHost, index: Store.Index, trust: TrustPolicy,
        options: WatchOptions, log: Logger
    ) throws {
        self.repository = repository
        self.index = index
        self.log = log
        observer = try RepositoryObserver(
            repository, host: host, index: index, trust: trust, options: options, log: log)
        listener = RefListener(repository, interval: options.interval, log: log)
    }

    /// The target branch of its changes.
    package var targets: TargetWatch { observer.targets }

    /// The rules by which its runs are judged.
    var trustRules: TrustRules { get async { await observer.trust } }

    /// Requests an observation as soon as possible.
    package nonisolated func wakeUp() { requests.wakeUp() }

    /// The same, even if no ref moved: something else that the decision depends on changed.
    package func lookAnew() async {
        await observer.forget()
        requests.wakeUp()
    }

    /// Observes, and returns when an observation that started after this call has ended; true if it succeeded.
    package nonisolated func lookNow() async -> Bool { await requests.next() }

    /// Observes once.
    package func look() async throws { try await observer.look() }

    /// Starts the runs that are due in the minute that begins at `minute`, in seconds since 1970.
    package func startScheduled(at minute: Int) async { await observer.startScheduled(at: minute) }

    /// Observes until the task is cancelled. After a failure it tries again with growing pauses.
    package func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { [listener, requests] in await listener.run { requests.wakeUp() } }
            group.addTask { [self] in await tick() }
            for await _ in requests.wakes {
                if Task.isCancelled { break }
                let look = requests.begin()
                requests.end(look, succeeded: await lookAndReport())
                group.addTask { [self] in await flushLooks() }
            }
            group.cancelAll()
        }
        requests.end(.max, succeeded: false)
    }

    /// Flushes accepted runs to disk even if no run starts. A run that starts does this itself, and must not wait for
    /// the disk before that.
    private func flushLooks() async {
        do {
            try await Task.sleep(for: .milliseconds(20))
            try await index.flushLooks()
        } catch is CancellationError {
        } catch {
            log.warning(
                "\(repository.name): accepted runs may not be recorded on disk yet: \(error)",
                metadata: .code(.notDurable, repository: repository.name))
        }
    }

    private func lookAndReport() async -> Bool {
        do {
            try await observer.look()
            if failures > 0 {
                log.notice(
                    "\(repository.name) can be read again",
                    metadata: .code(.repositoryReadable, repository: repository.name))
            }
            (failures, failedForWantOfSomething) = (0, false)
            return true
        } catch is CancellationError {
            return false
        } catch {
            // An error of the index or the disk, which `Health` handles; the repository is not to blame.
            failedForWantOfSomething = error is ArchiveError || DiskErrors.isFull(error)
            failures += 1
            // The first failure and then each tenth: a repository that is unavailable for a night must not fill the
            // log.
            if failures == 1 || failures % 10 == 0 {
                log.error(
                    "\(repository.name) can't be read (\(failures) times in a row): \(error)",
                    metadata: .code(.repositoryUnreadable, repository: repository.name))
            }
            return false
        }
    }

    /// Waits for the next periodic observation, with jitter so that many daemons don't fetch at once, and longer after
    /// failures.
    private func tick() async {
        while !Task.isCancelled {
            requests.wakeUp()
            let interval = listener.interval.inSeconds
            let seconds = interval * Double(1 << min(failures, 5)) * Double.random(in: 0.9...1.1)
            do { try await Task.sleep(for: .seconds(min(seconds, max(600, interval)))) } catch { return }
        }
    }
}
