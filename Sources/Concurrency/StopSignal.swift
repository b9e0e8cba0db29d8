import Synchronization

/// Why a step or run is asked to end early.
public struct StopRequest: Sendable, Equatable {
    public enum Kind: String, Sendable {
        case cancelled, superseded, timedOut, failFast, shutdown, limitReached
        /// A background run gives way to one that somebody waits for.
        case preempted
    }

    public var kind: Kind
    /// A sentence for the report.
    public var reason: String

    public init(_ kind: Kind, reason: String) {
        self.kind = kind
        self.reason = reason
    }
}

/// A request to stop that is made once and may be waited for by any number of tasks.
public final class StopSignal: Sendable {
    private struct State {
        var request: StopRequest?
        var waiters: [Int: CheckedContinuation<StopRequest?, Never>] = [:]
        var handlers: [Int: @Sendable (StopRequest) -> Void] = [:]
        var nextWaiter = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// The first request, once there is one.
    public var request: StopRequest? { state.withLock { $0.request } }

    /// Asks to stop; later requests change nothing.
    public func stop(_ request: StopRequest) {
        let waiting = state.withLock { state -> State? in
            guard state.request == nil else { return nil }
            state.request = request
            defer { (state.waiters, state.handlers) = ([:], [:]) }
            return state
        }
        guard let waiting else { return }
        for handler in waiting.handlers.values { handler(request) }
        for waiter in waiting.waiters.values { waiter.resume(returning: request) }
    }

    /// Calls `handler` with the request, at once if there is one; on the thread that stops.
    ///
    /// - Returns: What ``removeHandler(_:)`` takes.
    package func onStop(_ handler: @escaping @Sendable (StopRequest) -> Void) -> Int {
        let (number, request) = state.withLock { state in
            state.nextWaiter += 1
            if state.request == nil { state.handlers[state.nextWaiter] = handler }
            return (state.nextWaiter, state.request)
        }
        if let request { handler(request) }
        return number
    }

    package func removeHandler(_ number: Int) { state.withLock { _ = $0.handlers.removeValue(forKey: number) } }

    /// Waits for the request; nil when the waiting task is cancelled first.
    public func wait() async -> StopRequest? {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> StopRequest?? in
                    if let request = state.request { return .some(request) }
                    if Task.isCancelled { return .some(nil) }
                    state.waiters[number] = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            // When cancellation comes before the continuation is stored, the check above sees it.
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: nil)
        }
    }
}
