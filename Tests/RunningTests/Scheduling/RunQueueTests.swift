import Archive
import Concurrency
import Control
import Engine
import Foundation
import Results
import Store
import Synchronization
import Testing
import RunSamples
@testable import Running

/// Taking runs into the queue and out of it.
@Suite(.timeLimit(.minutes(1))) struct RunQueueTests {
    private func queue(_ bench: PhaseBench) -> RunQueue {
        RunQueue(
            index: bench.index, scheduler: bench.scheduler, board: bench.live,
            unstarted: UnstartedRuns(
                index: bench.index, store: bench.store, events: bench.scheduler.events, log: PhaseBench.log))
    }

    @Test func `a run that lost its place before it started has a report`() async throws {
        try await PhaseBench.with { bench in
            let queue = queue(bench)
            let older = try await queue.accept(RunSample.request(nonce: "a")).run.id
            let newer = try await queue.accept(RunSample.request(nonce: "b"))
            #expect(newer.superseded.map(\.run) == [older])
            let report = try await bench.store.report(older)
            #expect(report.verdict == .superseded && report.supersededBy == newer.run.id)
            #expect(try await bench.index.queued().map(\.id) == [newer.run.id])
        }
    }

    /// Notes the runs that ended before they started.
    private final class Ear: RunListener {
        let name = "ear"
        let verdicts = Mutex<[RunID: [Verdict]]>([:])
        func wants(_ event: DaemonEvent) -> Bool { if case .unstarted = event { true } else { false } }
        func receive(_ event: DaemonEvent) async {
            guard case .unstarted(let report, _) = event else { return }
            verdicts.withLock { $0[report.id, default: []].append(report.verdict) }
        }
        func missed(_ count: Int) async {}
    }

    @Test func `listeners are told once of each run that ends in the queue`() async throws {
        try await PhaseBench.with { bench in
            let (queue, ear) = (queue(bench), Ear())
            let (older, newer) = try await bench.scheduler.events.deliver(to: [ear]) {
                let older = try await queue.accept(RunSample.request(nonce: "a")).run.id
                let newer = try await queue.accept(RunSample.request(nonce: "b")).run.id
                _ = try await queue.cancel(newer, reason: "not wanted")
                await queue.unstarted.archive()
                return (older, newer)
            }
            #expect(ear.verdicts.withLock { $0 } == [older: [.superseded], newer: [.cancelled]])
        }
    }

    @Test func `a run that waits is cancelled at once, a second time there is nothing to cancel`() async throws {
        try await PhaseBench.with { bench in
            let queue = queue(bench)
            let id = try await queue.accept(RunSample.request()).run.id
            #expect(try await queue.cancel(id, reason: "not wanted") == .beforeStart)
            #expect(try await bench.store.report(id).verdict == .cancelled)
            #expect(try await queue.cancel(id, reason: "not wanted") == .hadEnded)
        }
    }

    @Test func `a run that was taken from the queue and has not begun is cancelled, and stops as it begins`()
        async throws
    {
        try await PhaseBench.with { bench in
            let queue = queue(bench)
            let id = try await queue.accept(RunSample.request()).run.id
            #expect(try await bench.index.claimNext()?.id == id)
            #expect(try await queue.cancel(id, reason: "not wanted") == .stopping)
            #expect(bench.scheduler.takeEarlyStop(of: id)?.kind == .cancelled)
        }
    }

    @Test func `where only named runs may start, one that is begun may start too`() async throws {
        try await PhaseBench.with { bench in
            await bench.scheduler.startOnly([])
            let id = try await queue(bench).begin(RunSample.request())
            #expect(await bench.scheduler.isMine(id))
            #expect(await !bench.scheduler.isMine(id + 1))
        }
    }

    @Test func `where only named runs may start, none is accepted at the end`() async throws {
        try await PhaseBench.with { bench in
            await bench.scheduler.startOnly([])
            await bench.scheduler.drain()
            let error = await #expect(throws: DaemonError.self) { try await queue(bench).begin(RunSample.request()) }
            #expect(error?.code == .stopping)
            let queued = try await bench.index.queued()
            #expect(queued.isEmpty)
        }
    }

    @Test func `whoever waits for a run and is cancelled cancels the run`() async throws {
        try await PhaseBench.with { bench in
            let queue = queue(bench)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await queue.runToEnd(RunSample.request(), cancelReason: "enough") }
                while try await bench.index.queued().isEmpty { await Task.yield() }
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.next() }
            }
            #expect(try await bench.index.queued().isEmpty)
        }
    }
}
