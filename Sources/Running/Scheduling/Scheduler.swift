package import Concurrency
package import Results
package import Store
import Pipeline
import Synchronization

/// What a scheduler needs of the daemon around it.
package protocol SchedulerHost: Sendable {
    /// Whether the disk has room for another run.
    func hasRoom() async -> Bool
    /// Told how each attempt to claim a run went; nil for well.
    func noteClaim(_ error: (any Error)?) async
    /// Takes a claimed run to its verdict.
    func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report
    /// Told when nothing of a run is left.
    func noteEnd(of run: RunID) async
    /// Sends away steps that wait for approval.
    func stopWaiting() async
}

/// Starts runs as they come, and holds the list of those that go on.
package actor Scheduler {
    private let index: Store.Index
    /// Runs that go on at a time.
    private let limit: Int
    /// What happens to runs, for those who do what follows from it.
    package nonisolated let events: EventStream
    private nonisolated let live = Mutex(LiveRuns())
    private let wakes: AsyncStream<Void>
    private nonisolated let wake: AsyncStream<Void>.Continuation
    package private(set) var isDraining = false
    private nonisolated let ending = Mutex(false)
    /// Only these may start; nil means all. A foreground run must not start what a daemon left behind.
    private var mayStart: Set<RunID>?
    /// Of named runs that have ended.
    private var ownReports: [RunID: Report] = [:]

    package init(index: Store.Index, limit: Int) {
        self.index = index
        self.limit = limit
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        events = EventStream(onIdle: { [wake] in wake.yield() })
    }

    // MARK: From outside

    /// Has looked whether something may start; returns at once.
    package nonisolated func wakeUp() { wake.yield() }

    /// Restricts what starts to these runs and those named before.
    package func startOnly(_ runs: Set<RunID>) { mayStart = (mayStart ?? []).union(runs) }
    /// Whether only named runs may start.
    package var isRestricted: Bool { mayStart != nil }
    /// Whether this process has to do with the run at all.
    package func isMine(_ run: RunID) -> Bool { mayStart?.contains(run) ?? true }
    /// The report of a named run that has ended.
    package func report(of run: RunID) -> Report? { ownReports[run] }

    /// Starts no further runs.
    package func drain() {
        isDraining = true
        wakeUp()
    }

    /// Whether ``cancelAll(_:)`` was called; for runs that wait for nothing but the disk.
    nonisolated var isEnding: Bool { ending.withLock { $0 } }

    /// Ends all runs, with grace, as cancelled, and starts no others.
    package func cancelAll(_ reason: String) {
        isDraining = true
        ending.withLock { $0 = true }
        for stop in live.withLock({ $0.stops }) { stop.stop(StopRequest(.shutdown, reason: reason)) }
        wakeUp()
    }

    /// What stops a run; nil where it does not go on.
    nonisolated func stop(of run: RunID) -> StopSignal? { live.withLock { $0.stop(of: run) } }

    /// Notes how far a run is, and lets another start for it.
    package nonisolated func note(_ state: LiveRuns.State, of run: RunID) {
        if live.withLock({ $0.note(state, of: run) }) { wakeUp() }
    }

    // MARK: The loop

    /// Starts runs as they come until the scheduler drains; with `untilIdle`, until nothing waits, runs or follows.
    ///
    /// - Parameter missed: Whether runs that make missed snapshots may wait.
    /// - Returns: The reports of the runs that ended meanwhile, for `untilIdle` and named runs.
    package func work(untilIdle: Bool, _ host: some SchedulerHost, _ missed: MissedSnapshots) async throws -> [Report] {
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
            while true {
                // Looked at first: a run that a listener queues after this wakes the scheduler.
                let isQuiet = events.isIdle
                while !isDraining, live.withLock({ $0.mayStartAnother(of: limit) }),
                    let (run, stop) = try await next(host, missed, isPatient: !untilIdle)
                {
                    group.addTask { await host.execute(run, stop) }
                }
                let (isEmpty, isIdle) = live.withLock { ($0.isEmpty, $0.isIdle) }
                if isEmpty && (isDraining || untilIdle && isQuiet) { break }
                if untilIdle, isQuiet, !isDraining, !isEmpty, isIdle {
                    // Nobody can reach this process to approve: the runs keep their place for the next one.
                    drain()
                    await host.stopWaiting()
                }
                guard let ended = try await group.next() else { break }
                if let report = ended {
                    if untilIdle || mayStart != nil { reports.append(report) }
                    await end(report, host)
                } else {
                    if Task.isCancelled { isDraining = true } else { listen() }
                }
            }
            group.cancelAll()
            return reports
        }
    }

    private func begin(_ run: QueuedRun) -> StopSignal {
        let stop = StopSignal()
        // They are wanted again when the machine is idle.
        for probe in live.withLock({ $0.begin(run, stop) }) {
            probe.stop(StopRequest(.preempted, reason: "stopped for run \(run.id), which has priority"))
        }
        return stop
    }

    private func end(_ report: Report, _ host: some SchedulerHost) async {
        live.withLock { $0.end(report.id) }
        if mayStart != nil { ownReports[report.id] = report }
        await host.noteEnd(of: report.id)
    }

    /// The next run.
    ///
    /// - Parameter isPatient: Whether it is nil also when it can't be found out now: the daemon asks again.
    private func next(
        _ host: some SchedulerHost, _ missed: MissedSnapshots, isPatient: Bool
    ) async throws -> (QueuedRun, StopSignal)? {
        do {
            // At once: whoever cancels the run finds it.
            let begun = try await claim(host, missed).map { ($0, begin($0)) }
            await host.noteClaim(nil)
            return begun
        } catch {
            guard isPatient else { throw error }
            await host.noteClaim(error)
            return nil
        }
    }

    private func claim(_ host: some SchedulerHost, _ missed: MissedSnapshots) async throws -> QueuedRun? {
        guard await host.hasRoom() else { return nil }
        let running = live.withLock { $0.ids }
        if let mayStart {
            let waiting = try await index.queued().filter {
                mayStart.contains($0.id) && $0.waitsFor == nil && !running.contains($0.id)
            }
            guard var run = waiting.first else { return nil }
            run.attempt = try await index.markRunning(run.id)
            return run
        }
        // A run that was just put back, and approved already, must have left its folders before it starts again.
        let run = try await index.claimNext(
            excluding: running, isIdle: live.withLock { $0.isIdle }, prefersMissed: missed.mayWait)
        if run?.request.kind != .warmUp(isMissed: true) { missed.mayWait = false }
        return run
    }
}
