import Store
@testable import Engine
import Results
import Foundation
import Synchronization
import Testing
@testable import Running

/// What listeners receive, when they are slow, and when they have caught up.
@Suite(.timeLimit(.minutes(1))) struct EventStreamTests {
    /// Notes what it receives; can be held up.
    private final class Ear: RunListener {
        let name = "ear"
        let capacity: Int
        let gate: AsyncStream<Void>?
        let heard = Mutex<[RunID]>([])
        let lost = Mutex(0)
        private let first: AsyncStream<Void>.Continuation
        /// One element once the first event is being worked on.
        let started: AsyncStream<Void>

        init(capacity: Int = 100, gate: AsyncStream<Void>? = nil) {
            self.capacity = capacity
            self.gate = gate
            (started, first) = AsyncStream.makeStream()
        }

        func wants(_ event: DaemonEvent) -> Bool { if case .ended = event { true } else { false } }

        func receive(_ event: DaemonEvent) async {
            guard case .ended(let run) = event else { return }
            first.yield()
            if let gate { for await _ in gate { break } }
            heard.withLock { $0.append(run) }
        }

        func missed(_ count: Int) async { lost.withLock { $0 += count } }
    }

    @Test func `each listener gets what it wants, in order and to the last`() async throws {
        let (stream, one, other) = (EventStream(), Ear(), Ear())
        let result = try await stream.deliver(to: [one, other]) {
            for id in 1...50 { stream.publish(.ended(RunID(id))) }
            stream.publish(.step(7, .stepWaiting(step: "a", reason: "b")))
            return "done"
        }
        #expect(result == "done")
        for ear in [one, other] { #expect(ear.heard.withLock { $0 } == (1...50).map(RunID.init)) }
        #expect(stream.isIdle)
    }

    @Test func `a slow listener holds nobody up and is told what it missed`() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        let (stream, slow, quick) = (EventStream(), Ear(capacity: 2, gate: gate), Ear())
        try await stream.deliver(to: [slow, quick]) {
            stream.publish(.ended(1))
            for await _ in slow.started { break }
            for id in 2...10 { stream.publish(.ended(RunID(id))) }
            #expect(!stream.isIdle)
            open.finish()
        }
        #expect(slow.heard.withLock { $0 } == [1, 9, 10])
        #expect(slow.lost.withLock { $0 } == 7)
        #expect(quick.heard.withLock { $0.count } == 10)
    }

    @Test func `who waits for the listeners is told when they have caught up`() async throws {
        let (idle, tell) = AsyncStream<Void>.makeStream()
        let stream = EventStream(onIdle: { tell.yield() })
        let ear = Ear()
        try await stream.deliver(to: [ear]) {
            stream.publish(.ended(1))
            for await _ in idle where stream.isIdle { break }
            #expect(ear.heard.withLock { $0 } == [1])
        }
    }

    @Test func `an error of the body ends the listeners, too`() async throws {
        struct Failure: Error {}
        let (stream, ear) = (EventStream(), Ear())
        await #expect(throws: Failure.self) {
            try await stream.deliver(to: [ear]) {
                stream.publish(.ended(1))
                throw Failure()
            }
        }
        #expect(ear.heard.withLock { $0 } == [1])
    }

    @Test func `events without listeners are gone`() async throws {
        let (stream, ear) = (EventStream(), Ear())
        stream.publish(.ended(1))
        try await stream.deliver(to: [ear]) {}
        #expect(ear.heard.withLock { $0 }.isEmpty)
    }
}
