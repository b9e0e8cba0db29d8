package import Concurrency
package import Results
package import Store
import Pipeline
import Synchronization

/// The part of the daemon that a scheduler uses.
package protocol SchedulerHost: Sendable {
    /// Whether the disk has space for another run.
    func hasRoom() async -> Bool
    /// Called after each attempt to claim a run; nil for success.
    func noteClaim(_ error: (any Error)?) async
    /// Takes a claimed run to its verdict.
    func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report
    /// Called when a run is no longer live.
    func noteEnd(of run: RunID) async
    /// Ends the waits of steps for approval.
    func stopWaiting() async
}

/// Starts queued runs, and has the list of live ones.
package actor Scheduler {
    private let index: Store.Index
    /// The most runs at the same time on the daemon's machine.
    private let ownLimit: Int
    /// How many others machines can have now.
    private let otherSlots: @Sendable () -> Int
    /// Events of runs, for listeners.
    package nonisolated let events: EventStream
    private nonisolated let live = Mutex(LiveRuns())
    private let wakes: AsyncStream<Void>
    private nonisolated let wake: AsyncStream<Void>.Continuation
    package private(set) var isDraining = false
    private nonisolated let ending = Mutex(false)
    /// Only these may start, and the older runs that they wait for; nil means all. A run by hand does not start what else
    /// a daemon left.
    private var mayStart: Set<RunID>?
    /// Reports of named runs that have ended.
    private var ownReports: [RunID: Report] = [:]

    package init(index: Store.Index, limit: Int, otherSlots: @escaping @Sendable () -> Int = { 0 }) {
        self.index = index
        (ownLimit, self.otherSlots) = (limit, otherSlots)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        events = EventStream(onIdle: { [wake] in wake.yield() })
    }

    private var limit: Int { ownLimit + otherSlots() }

    // MARK: Requests

    /// Makes the scheduler check whether a run may start; returns at once.
    package nonisolated func wakeUp() { wake.yield() }

    /// Restricts what starts to these runs, those named before, and the older ones that they wait for.
    package func startOnly(_ runs: Set<RunID>) { mayStart = (mayStart ?? []).union(runs) }
    /// Whether only named runs may start.
    package var isRestricted: Bool { mayStart != nil }
    /// Whether this process is responsible for the run.
    package func isMine(_ run: RunID) -> Bool { mayStart?.contains(run) ?? true }
    /// The report of a named run that has ended.
    package func report(of run: RunID) -> Report? { ownReports[run] }

    /// Starts no further runs.
    package func drain() {
        isDraining = true
        wakeUp()
    }

    /// Whether ``cancelAll(_:)`` was called; for runs that only wait for the disk.
    nonisolated var isEnding: Bool { ending.withLock { $0 } }

    /// Cancels all runs, with the grace period, and starts no others.
    package func cancelAll(_ reason: String) {
        isDraining = true
        ending.withLock { $0 = true }
        for stop in live.withLock({ $0.stops }) { stop.stop(StopRequest(.shutdown, reason: reason)) }
        wakeUp()
    }

    /// Whether no run is live.
    package nonisolated var isIdle: Bool { live.withLock { $0.isEmpty } }

    /// Stops a live run, or one that was taken from the queue and is about to start.
    ///
    /// - Returns: Whether it is live. If it is not, and will not start either, call ``takeEarlyStop(of:)``.
    nonisolated func stop(_ run: RunID, _ request: StopRequest) -> Bool {
        guard let signal = live.withLock({ $0.stop(run, request) }) else { return false }
        signal.stop(request)
        return true
    }

    /// The request to stop a run that has not started, which is forgotten now.
    @discardableResult
    nonisolated func takeEarlyStop(of run: RunID) -> StopRequest? { live.withLock { $0.takeEarlyStop(of: run) } }

    /// Sets the state of a run, and lets another one start if possible.
    package nonisolated func note(_ state: LiveRuns.State, of run: RunID) {
        if live.withLock({ $0.note(state, of: run) }) { wakeUp() }
    }

    // MARK: The loop

    /// Starts queued runs until the scheduler drains; with `untilIdle`, until no run waits or runs and all listeners
    /// are idle.
    ///
    /// - Parameter missed: Whether queued runs may make missed snapshots.
    /// - Returns: The reports of ended runs, for `untilIdle` and for named runs.
    package func work(untilIdle: Bool, _ host: some SchedulerHost, _ missed: MissedSnapshots) async throws -> [Report] {
        try await withThrowingTaskGroup(of: Report?.self) { group in
            // One child turns wake-ups into a task that ends, so that a single `next()` waits for both kinds.
            let wakes = self.wakes
            func listen() {
                group.addTask {
                    for await _ in wakes { return nil }; return nil
                }
            }
            listen()
            var reports: [Report] = []
            while true {
                // Checked first: a run that a listener queues later wakes the scheduler.
                let isQuiet = events.isIdle
                while !isDraining, live.withLock({ $0.mayStartAnother(of: limit) }),
                    let (run, stop) = try await next(host, missed, isPatient: !untilIdle)
                {
                    group.addTask { await host.execute(run, stop) }
                }
                let (isEmpty, isParked) = live.withLock { ($0.isEmpty, $0.isParked) }
                if isEmpty && (isDraining || untilIdle && isQuiet) { break }
                if untilIdle, isQuiet, !isDraining, !isEmpty, isParked {
                    // Nobody can reach this process to approve, so the runs stay queued for the next one.
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
        let (probes, early) = live.withLock { ($0.begin(run, stop), $0.takeEarlyStop(of: run.id)) }
        // They are requested again when the machine is idle.
        for probe in probes {
            probe.stop(StopRequest(.preempted, reason: "stopped for run \(run.id), which has priority"))
        }
        if let early { stop.stop(early) }
        return stop
    }

    private func end(_ report: Report, _ host: some SchedulerHost) async {
        live.withLock { $0.end(report.id) }
        if mayStart != nil { ownReports[report.id] = report }
        await host.noteEnd(of: report.id)
    }

    /// The next run.
    ///
    /// - Parameter isPatient: Whether to return nil if the queue can't be read now: a daemon tries again.
    private func next(
        _ host: some SchedulerHost, _ missed: MissedSnapshots, isPatient: Bool
    ) async throws -> (QueuedRun, StopSignal)? {
        do {
            // Added at once, so that a cancellation finds it.
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
        try await makeWay()
        let (running, crowded, isIdle) = live.withLock { ($0.ids, $0.crowded, $0.isIdle) }
        if let mayStart {
            let queued = try await index.queued()
            let wanted = Self.named(mayStart, in: queued)
            let waiting = queued.filter { wanted.contains($0.id) && $0.waitsFor == nil && !running.contains($0.id) }
            guard var run = waiting.first else { return nil }
            run.attempt = try await index.markRunning(run.id)
            return run
        }
        // A run that was just put back, and is approved already, must have left its folders before it starts again.
        var excluded = running
        if !crowded.isEmpty {
            excluded.formUnion(
                try await index.queued().filter { crowded.contains(.init($0.request)) }.map(\.id))
        }
        let run = try await index.claimNext(excluding: excluded, isIdle: isIdle, prefersMissed: missed.mayWait)
        if run?.request.kind != .warmUp(isMissed: true) { missed.mayWait = false }
        return run
    }

    /// Stops runs that only wait for approvals, if newer ones wait for them and only the latest counts.
    private func makeWay() async throws {
        let parked = live.withLock { $0.parked }
        guard !parked.isEmpty else { return }
        for (older, newer) in try await index.giveWay(parked) {
            let reason = "Run \(newer) took its place while it waited for an approval."
            guard stop(older, StopRequest(.superseded, reason: reason)) else { continue }
            // It waits for nothing more.
            note(.finishing, of: older)
        }
    }

    /// The named runs and the older ones that they wait for: nobody else would start these.
    private static func named(_ runs: Set<RunID>, in queued: [QueuedRun]) -> Set<RunID> {
        var (named, count) = (runs, 0)
        while named.count != count {
            count = named.count
            named.formUnion(queued.filter { named.contains($0.id) }.compactMap(\.waitsFor))
        }
        return named
    }
}
