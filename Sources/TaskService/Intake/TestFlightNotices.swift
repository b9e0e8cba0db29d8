import Synchronization

/// Tells the intake that there is something new at TestFlight.
package final class TestFlightNotices: Sendable {
    private let state = Mutex<(isTold: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

    package init() {}

    package func tell() {
        state.withLock { state in
            state.isTold = true
            defer { state.waiter = nil }
            return state.waiter
        }?.resume()
    }

    func clear() { state.withLock { $0.isTold = false } }

    /// Returns when something was told since the last ``clear()``, or the task is cancelled. One task waits.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if Task.isCancelled || state.isTold { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }?.resume()
        }
    }
}
