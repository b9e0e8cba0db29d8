import Results
import Store
import Foundation
import Pipeline
import TestSupport
import Testing

@Suite struct QueueTests {
    @Test func `repositories take turns`() async throws {
        let index = try Index.inMemory()
        for number in 1...3 { try await index.accept(Sample.request("busy", change: "\(number)", head: number)) }
        try await index.accept(Sample.request("calm", change: "1", head: 1))
        #expect(try await index.queued().map(\.request.repository) == ["busy", "calm", "busy", "busy"])
        var claimed: [RunID] = []
        while let run = try await index.claimNext() { claimed.append(run.id) }
        #expect(claimed == [1, 4, 2, 3])
        try await index.accept(Sample.request("busy", change: "9", head: 9))
        try await index.accept(Sample.request("calm", change: "9", head: 9))
        #expect(try await index.claimNext()?.request.repository == "calm", "its last start is longest ago")
    }

    @Test func `a claimed run is running`() async throws {
        let index = try await Index.watching()
        try await index.accept(Sample.request())
        let run = try #require(try await index.claimNext())
        #expect(run.attempt == 1)
        #expect(run.request == Sample.request())
        let summary = try #require(try await index.run(run.id)?.summary)
        #expect(summary.state == .running)
        #expect(summary.attempt == 1)
        #expect(summary.startedAt == Sample.start)
        #expect(try await index.claimNext() == nil)
    }

    @Test func `background runs wait until nothing else is queued`() async throws {
        let index = try Index.inMemory()
        var upkeep = Sample.request("alpha", change: nil, head: 1)
        upkeep.kind = .warmUp(isMissed: false)
        try await index.accept(upkeep)
        try await index.accept(Sample.request("beta", change: "1", head: 2))
        #expect(try await index.claimNext(isIdle: false)?.id == 2, "although the other came first")
        #expect(try await index.claimNext(isIdle: false) == nil)
        #expect(try await index.claimNext(isIdle: true)?.id == 1)
    }

    @Test func `concurrent claims get different runs`() async throws {
        let index = try Index.inMemory()
        for number in 1...40 { try await index.accept(Sample.request(change: "\(number)", head: number)) }
        let claimed = try await withThrowingTaskGroup(of: RunID?.self, returning: [RunID].self) { group in
            for _ in 1...50 { group.addTask { try await index.claimNext()?.id } }
            return try await group.reduce(into: [RunID]()) { if let id = $1 { $0.append(id) } }
        }
        #expect(claimed.sorted() == Array(1...40))
    }

    @Test func `excluded runs stay queued`() async throws {
        let index = try Index.inMemory()
        for number in 1...3 { try await index.accept(Sample.request(change: "\(number)", head: number)) }
        #expect(try await index.claimNext(excluding: [1, 2])?.id == 3)
        #expect(try await index.claimNext(excluding: [1, 2]) == nil)
        #expect(try await index.queued().map(\.id) == [1, 2])
    }

    @Test(arguments: [Concurrency.queue(max: 5), .latestOnly])
    func `serial runs start one after the other`(_ concurrency: Concurrency) async throws {
        let index = try await Index.watching()
        let first = Sample.request(change: nil, head: 1, concurrency: concurrency)
        try await index.accept(first)
        try await index.accept(Sample.request("alpha", "other", change: nil, head: 1, concurrency: concurrency))
        #expect(try await index.claimNext()?.id == 1)
        try await index.accept(Sample.request(change: nil, head: 2, concurrency: concurrency))
        #expect(try await index.queued().map(\.waitsFor) == [nil, 1])
        #expect(try await index.claimNext()?.id == 2, "another workflow does not wait")
        #expect(try await index.claimNext() == nil)
        try await index.finish(Sample.report(1, first), tests: [])
        #expect(try await index.claimNext()?.id == 3)
    }

    @Test func `superseding runs do not wait until the old one has stopped`() async throws {
        let index = try await Index.watching()
        try await index.accept(Sample.request(head: 1))
        _ = try await index.claimNext()
        try await index.accept(Sample.request(head: 2))
        #expect(try await index.claimNext()?.id == 2)
    }

    @Test func `only a waiting run can be started`() async throws {
        let index = try await Index.watching()
        let id = try await index.enqueue(Sample.request()).run.id
        #expect(try await index.markRunning(id) == 1)
        let twice = await #expect(throws: ArchiveError.self) { try await index.markRunning(id) }
        #expect(twice?.code == .wrongState)
        let unknown = await #expect(throws: ArchiveError.self) { try await index.markRunning(99) }
        #expect(unknown?.code == .unknownRun)
    }

    @Test func `only a waiting run is cancelled in the queue`() async throws {
        let index = try await Index.watching()
        let id = try await index.enqueue(Sample.request()).run.id
        #expect(try await index.cancelQueued(id, reason: "by hand"))
        #expect(try await index.run(id)?.summary.verdict == .cancelled)
        #expect(try await index.cancelQueued(id, reason: "again") == false)
        #expect(try await index.run(id)?.summary.reason == "by hand")
        #expect(try await index.enqueue(Sample.request()).isNew, "a cancelled run may be wanted again")
    }

    @Test func `an interrupted run is queued again`() async throws {
        let index = try await Index.watching()
        let id = try await index.enqueue(Sample.request()).run.id
        try await index.markRunning(id)
        let recovered = try await index.recoverInterrupted()
        #expect(recovered.map(\.outcome) == [.queued(attempt: 2)])
        #expect(recovered.map(\.request) == [Sample.request()])
        #expect(try await index.run(id)?.steps.isEmpty == true)
        #expect(try await index.queued().map(\.attempt) == [2])
        #expect(try await index.claimNext()?.attempt == 2)
        #expect(try await index.recoverInterrupted().count == 1)
        #expect(try await index.recoverInterrupted().isEmpty)
        #expect(try await index.claimNext()?.attempt == 3)
        let third = try await index.recoverInterrupted().map(\.outcome)
        guard case .ended(.infrastructure, let reason)? = third.first else {
            Issue.record("the third time it must end, not \(third)")
            return
        }
        #expect(reason.contains("3 times in a row"))
        #expect(reason.contains("`pipectl rerun \(id)`"))
    }

    @Test func `an interrupted run that was superseded stays superseded`() async throws {
        let index = try await Index.watching()
        let old = try await index.enqueue(Sample.request(head: 1)).run.id
        try await index.markRunning(old)
        try await index.accept(Sample.request(head: 2))
        let recovered = try await index.recoverInterrupted()
        #expect(recovered.map(\.outcome) == [.ended(.superseded, reason: "Run 2 took its place.")])
        #expect(try await index.queued().map(\.id) == [2])
    }

    @Test func `a warm workspace that waiting changes miss is made first`() async throws {
        let index = try await Index.watching()
        let first = try await index.enqueue(Sample.request(change: "1", head: 1)).run.id
        var refresh = Sample.request(change: nil, head: 2, nonce: "refresh")
        (refresh.kind, refresh.event) = (.warmUp(isMissed: false), .push)
        let made = try await index.enqueue(refresh).run.id
        func next() async throws -> RunID? {
            try await index.claimNext(isIdle: false, prefersMissed: true)?.id
        }
        #expect(try await next() == first, "others make it when there is time")
        try await index.accept(Sample.request(change: "3", head: 3))
        try await index.setMissed(made)
        #expect(try await next() == made)
        #expect(try await next() == 3)
        var idle = Sample.request(change: nil, head: 5, nonce: "refresh")
        (idle.kind, idle.event) = (.warmUp(isMissed: true), .push)
        try await index.accept(idle)
        #expect(try await next() == nil, "nobody waits for it")
    }
}
