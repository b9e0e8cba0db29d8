import Concurrency
import Engine
import Pipeline
import Results
import Synchronization

/// Another machine that has, or is about to have, a place for steps of a run.
final class Site: Sendable {
    let held: HeldMachine
    /// Asks for its end.
    let ending = StopSignal()
    /// Set when it can be used, or when that has failed.
    private let ready = StopSignal()
    private let closed = StopSignal()
    private let state = Mutex(State())
    /// What was brought there. Whoever brings more holds this lock, on a thread of its own.
    let load = Mutex(Load())

    struct Load: Sendable {
        /// Steps whose outputs are there.
        var steps: Set<String> = []
        var values: Set<String> = []
    }

    private struct State {
        var place: (any OpenPlace)?
        var problem: (any Error)?
    }

    private static let news = StopRequest(.cancelled, reason: "news")

    init(_ held: HeldMachine) { self.held = held }

    /// Whether no further step can use it.
    var isOver: Bool {
        ending.request != nil || state.withLock { $0.problem != nil || $0.place?.isLost == true }
    }

    func end() { ending.stop(StopRequest(.cancelled, reason: "the place is not needed any more")) }

    // MARK: Whoever opens it

    func open(_ place: any OpenPlace) {
        state.withLock { $0.place = place }
        ready.stop(Site.news)
    }

    func fail(_ error: any Error) {
        state.withLock { $0.problem = $0.problem ?? error }
        ready.stop(Site.news)
    }

    func close() { closed.stop(Site.news) }

    /// Waits until somebody asks for its end; a cancelled task waits, too, since steps may still end there.
    func untilEnding() async {
        await withCheckedContinuation { continuation in
            _ = ending.onStop { _ in continuation.resume() }
        }
    }

    // MARK: Whoever uses it

    /// Waits until it can be used.
    func place(_ stop: StopSignal) async throws -> any OpenPlace {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await self.ready.wait() }
            group.addTask { _ = await stop.wait() }
            await group.next()
            group.cancelAll()
        }
        if stop.request != nil { throw CancellationError() }
        let (place, problem) = state.withLock { ($0.place, $0.problem) }
        if let problem { throw problem }
        guard let place, ending.request == nil else { throw CancellationError() }
        return place
    }

    /// Waits until nothing of it is left.
    func untilClosed() async { _ = await closed.wait() }
}
