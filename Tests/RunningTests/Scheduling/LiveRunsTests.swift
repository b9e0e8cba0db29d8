@testable import Workspaces
import Results
import Store
import Archive
import Foundation
import Testing

import Concurrency
import Pipeline
import RunSamples
@testable import Running

/// Which runs may start beside those that go on.
@Suite struct LiveRunsTests {
    private func run(_ id: RunID, _ kind: RunKind = .triggered, workflow: String = "test") -> QueuedRun {
        var request = RunSample.request()
        (request.kind, request.workflow) = (kind, workflow)
        return QueuedRun(id: id, request: request, createdAt: RunSample.start)
    }

    private func live(_ runs: QueuedRun...) -> LiveRuns {
        var live = LiveRuns()
        for run in runs { _ = live.begin(run, StopSignal()) }
        return live
    }

    @Test func `as many runs go on as the limit says`() {
        #expect(live().mayStartAnother(of: 2))
        #expect(live(run(1)).mayStartAnother(of: 2))
        #expect(!live(run(1), run(2)).mayStartAnother(of: 2))
    }

    @Test func `a request to stop a run that is about to start is kept for its start`() {
        var live = live(run(1))
        let request = StopRequest(.cancelled, reason: "by hand")
        #expect(live.stop(1, request) != nil && live.takeEarlyStop(of: 1) == nil)
        #expect(live.stop(2, request) == nil)
        _ = live.begin(run(2), StopSignal())
        #expect(live.takeEarlyStop(of: 2) == request)
        #expect(live.takeEarlyStop(of: 2) == nil)
    }

    @Test func `background runs keep no other from starting`() {
        #expect(live(run(1, .warmUp(isMissed: false)), run(2, .bisect), run(3)).mayStartAnother(of: 2))
    }

    @Test func `a run that waits for approval takes no place until it goes on`() {
        var live = live(run(1))
        let frees = live.note(.waitingForApproval, of: 1)
        #expect(frees && live.mayStartAnother(of: 1) && live.isIdle)
        let takes = live.note(.running, of: 1)
        #expect(!takes, "nobody can start for that")
        #expect(!live.mayStartAnother(of: 1) && !live.isIdle)
    }

    @Test func `a run that waits for a machine keeps no other from starting`() {
        var live = live(run(1), run(2))
        #expect(!live.mayStartAnother(of: 2))
        let frees = live.note(.waitingForMachine, of: 1)
        #expect(frees && live.mayStartAnother(of: 2) && !live.isIdle)
        let goesOn = live.note(.running, of: 1)
        #expect(!goesOn && !live.mayStartAnother(of: 2))
        for id: RunID in 1...2 { _ = live.note(.waitingForMachine, of: id) }
        #expect(live.isIdle && !live.isParked, "the machine is idle, but nobody has to approve")
    }

    @Test func `many runs that wait for a machine keep only those of their workflow in the queue`() {
        var live = LiveRuns()
        for id: RunID in 1...70 {
            #expect(live.crowded.isEmpty == (id <= 64))
            _ = live.begin(run(id, workflow: "mac"), StopSignal())
            _ = live.note(.waitingForMachine, of: id)
        }
        _ = live.begin(run(71, workflow: "linux"), StopSignal())
        #expect(live.mayStartAnother(of: 2))
        #expect(live.crowded == [.init(run(1, workflow: "mac").request)])
        for id: RunID in 1...7 { live.end(id) }
        #expect(live.crowded.isEmpty)
    }

    @Test func `as many runs may finish beside others as may run`() {
        var live = live(run(1), run(2), run(3))
        for id: RunID in 1...2 { _ = live.note(.finishing, of: id) }
        #expect(live.mayStartAnother(of: 2), "one runs, two finish")
        _ = live.note(.finishing, of: 3)
        _ = live.begin(run(4), StopSignal())
        #expect(!live.mayStartAnother(of: 2), "one runs, and one more finishes than may")
    }

    @Test func `a run that finishes does nothing else any more`() {
        var live = live(run(1))
        let notes = [LiveRuns.State.finishing, .finishing, .running].map { live.note($0, of: 1) }
        #expect(notes == [true, false, false])
        #expect(live.state(of: 1) == .finishing)
        live.end(1)
        let late = live.note(.running, of: 1)
        #expect(live.isEmpty && !late && live.state(of: 1) == nil)
    }

    @Test func `a wanted run preempts probes and nothing else`() {
        var live = live(run(1, .flakeProbe(1)), run(2, .warmUp(isMissed: false)), run(3))
        let background = live.begin(run(4, .warmUp(isMissed: false)), StopSignal())
        #expect(background.isEmpty)
        let preempted = live.begin(run(5), StopSignal())
        #expect(preempted.count == 1 && preempted.first === live.stop(1, StopRequest(.preempted, reason: "")))
    }
}

/// The loop that starts runs, over an index in memory.
@Suite(.timeLimit(.minutes(1))) struct SchedulerTests {
    /// Executes runs by giving them a verdict.
    private actor Host: SchedulerHost {
        let index: Store.Index
        var isFull = false
        private(set) var executed: [RunID] = []
        private(set) var ended: [RunID] = []
        private(set) var highest = 0
        private var current = 0

        init(_ index: Store.Index) { self.index = index }

        func fill() { isFull = true }
        func hasRoom() -> Bool { !isFull }
        func noteClaim(_ error: (any Error)?) {}
        func noteEnd(of run: RunID) { ended.append(run) }
        func stopWaiting() async {}

        func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report {
            executed.append(run.id)
            current += 1
            highest = max(highest, current)
            await Task.yield()
            let verdict: Verdict = stop.request == nil ? .passed : .cancelled
            let report = RunSample.report(run.id, run.request, verdict: verdict)
            try? await index.finish(report, tests: [], archivedBytes: 1)
            current -= 1
            return report
        }
    }

    private func scene() async throws -> (Store.Index, Scheduler, Host, MissedSnapshots) {
        let index = try await RunSample.index()
        return (index, Scheduler(index: index, limit: 2), Host(index), MissedSnapshots())
    }

    private func accept(_ count: Int, _ index: Store.Index) async throws -> [RunID] {
        var ids: [RunID] = []
        for number in 1...count {
            var request = RunSample.request(nonce: "\(number)")
            request.subject = "\(number)"
            ids.append(try await index.enqueue(request).run.id)
        }
        return ids
    }

    @Test func `everything that waits is run once, within the limit`() async throws {
        let (index, scheduler, host, missed) = try await scene()
        let ids = try await accept(6, index)
        let reports = try await scheduler.work(untilIdle: true, host, missed)
        #expect(reports.map(\.id).sorted() == ids)
        #expect(await host.executed.sorted() == ids)
        #expect(await host.ended.sorted() == ids)
        #expect(await host.highest <= 2)
    }

    @Test func `runs that wait for a machine hold up no other workflow`() async throws {
        /// Runs of "mac" wait for a machine until one of "linux" runs.
        struct Waiting: SchedulerHost {
            let host: Host
            let scheduler: Scheduler
            let linux = StopSignal()

            func hasRoom() -> Bool { true }
            func noteClaim(_ error: (any Error)?) {}
            func noteEnd(of run: RunID) {}
            func stopWaiting() async {}
            func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report {
                if run.request.workflow == "mac" {
                    scheduler.note(.waitingForMachine, of: run.id)
                    _ = await linux.wait()
                    return RunSample.report(run.id, run.request)
                }
                defer { linux.stop(StopRequest(.cancelled, reason: "it has run")) }
                return await host.execute(run, stop)
            }
        }
        let (index, scheduler, host, missed) = try await scene()
        for number in 1...67 {
            var request = RunSample.request(nonce: "\(number)")
            (request.subject, request.workflow) = ("\(number)", number == 67 ? "linux" : "mac")
            _ = try await index.enqueue(request)
        }
        let reports = try await scheduler.work(
            untilIdle: true, Waiting(host: host, scheduler: scheduler), missed)
        #expect(reports.count == 67)
        #expect(await host.executed == [67])
    }

    @Test(
        arguments: [
            (.latestOnly, true, 2, nil), (.latestOnly, false, 2, nil), (.queue(max: 100), true, 2, nil),
            (.latestOnly, true, 1, nil), (.latestOnly, true, 2, ["unit"]),
        ] as [(Pipeline.Concurrency, Bool, Int, [String]?)])
    func `a run that only waits for an approval gives way to a newer one, if only the latest counts`(
        concurrency: Pipeline.Concurrency, isAsking: Bool, commit: Int, steps: [String]?
    ) async throws {
        /// The first run waits for an approval until it is stopped, or until nothing else is left to do.
        struct Waiting: SchedulerHost {
            let host: Host
            let scheduler: Scheduler
            let concurrency: Pipeline.Concurrency
            let isAsking: Bool
            let commit: Int
            let steps: [String]?
            let closing = StopSignal()

            func hasRoom() -> Bool { true }
            func noteClaim(_ error: (any Error)?) {}
            func noteEnd(of run: RunID) {}
            func stopWaiting() async { closing.stop(StopRequest(.shutdown, reason: "nobody can be asked")) }
            func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report {
                guard run.request.nonce == "1" else { return await host.execute(run, stop) }
                var newer = RunSample.request(nonce: "2")
                (newer.concurrency, newer.head, newer.onlySteps) = (concurrency, RunSample.commit(commit), steps)
                _ = try? await host.index.enqueue(newer)
                let question = Approval(
                    step: "gate", why: "", head: run.request.head, definition: "", binding: "b",
                    askedAt: RunSample.start)
                if isAsking { _ = try? await host.index.ask(question, of: run.id) }
                scheduler.note(.waitingForApproval, of: run.id)
                let request = await withTaskGroup(of: StopRequest?.self) { group in
                    for signal in [stop, closing] { group.addTask { await signal.wait() } }
                    defer { group.cancelAll() }
                    return await group.next() ?? nil
                }
                let report = RunSample.report(
                    run.id, run.request, verdict: request?.kind == .superseded ? .superseded : .cancelled)
                try? await host.index.finish(report, tests: [], archivedBytes: 1)
                return report
            }
        }
        let (index, scheduler, host, missed) = try await scene()
        var request = RunSample.request(nonce: "1")
        request.concurrency = concurrency
        let id = try await index.enqueue(request).run.id
        let reports = try await scheduler.work(
            untilIdle: true,
            Waiting(
                host: host, scheduler: scheduler, concurrency: concurrency, isAsking: isAsking, commit: commit,
                steps: steps), missed)
        // A question that was answered at the same moment keeps its answer, and only a whole run of a newer commit counts.
        let isLatest = concurrency == .latestOnly && isAsking && commit == 2 && steps == nil
        #expect(reports.first { $0.id == id }?.verdict == (isLatest ? .superseded : .cancelled))
        #expect(try await index.run(id)?.summary.supersededBy == (isLatest ? id + 1 : nil))
        #expect(await host.executed == (isLatest ? [id + 1] : []))
    }

    @Test func `only named runs start where runs are named`() async throws {
        let (index, scheduler, host, missed) = try await scene()
        let ids = try await accept(3, index)
        await scheduler.startOnly([ids[1]])
        let reports = try await scheduler.work(untilIdle: true, host, missed)
        #expect(reports.map(\.id) == [ids[1]])
        #expect(await scheduler.report(of: ids[1])?.verdict == .passed)
        #expect(await !scheduler.isMine(ids[0]))
    }

    @Test func `an older run that a named one waits for is started first`() async throws {
        let (index, scheduler, host, missed) = try await scene()
        var ids: [RunID] = []
        for number in 0..<3 {
            var request = RunSample.request(nonce: "\(number)")
            (request.subject, request.concurrency) = (number == 1 ? "another" : "one", .queue(max: 10))
            ids.append(try await index.enqueue(request).run.id)
        }
        await scheduler.startOnly([ids[2]])
        let reports = try await scheduler.work(untilIdle: true, host, missed)
        #expect(reports.map(\.id) == [ids[0], ids[2]])
    }

    @Test func `nothing starts on a full disk or while it drains`() async throws {
        let (index, scheduler, host, missed) = try await scene()
        _ = try await accept(2, index)
        await host.fill()
        #expect(try await scheduler.work(untilIdle: true, host, missed).isEmpty)
        let (other, draining, free, unused) = try await scene()
        _ = try await accept(2, other)
        await draining.drain()
        #expect(try await draining.work(untilIdle: false, free, unused).isEmpty)
        #expect(await free.executed.isEmpty)
    }

    @Test func `what a listener queues after a run's end is run before all is idle`() async throws {
        /// Queues one run more when the first has ended.
        struct FollowUp: RunListener {
            let index: Store.Index
            let name = "follow-up"
            func wants(_ event: DaemonEvent) -> Bool { if case .ended(1) = event { true } else { false } }
            func receive(_ event: DaemonEvent) async {
                var request = RunSample.request(nonce: "follow-up")
                request.subject = "follow-up"
                _ = try? await index.enqueue(request)
            }
            func missed(_ count: Int) async {}
        }
        actor Telling: SchedulerHost {
            let host: Host
            let events: EventStream
            init(_ host: Host, _ events: EventStream) { (self.host, self.events) = (host, events) }
            func hasRoom() -> Bool { true }
            func noteClaim(_ error: (any Error)?) {}
            func noteEnd(of run: RunID) {}
            func stopWaiting() async {}
            func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report {
                let report = await host.execute(run, stop)
                events.publish(.ended(run.id))
                return report
            }
        }
        let (index, scheduler, host, missed) = try await scene()
        _ = try await accept(1, index)
        let telling = Telling(host, scheduler.events)
        let reports = try await scheduler.events.deliver(to: [FollowUp(index: index)]) {
            try await scheduler.work(untilIdle: true, telling, missed)
        }
        #expect(reports.count == 2)
    }
}
