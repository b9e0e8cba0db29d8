import Synchronization

/// Tells one task that there is something to look at. What is told while nobody waits is not lost.
///
/// A stream would end for good when a task that waits for it is cancelled, and every pause ends with that.
final class ForgeSignal: Sendable {
    private struct State {
        var isTold = false
        /// The task that waits.
        var waiter: CheckedContinuation<Void, Never>?

        mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state = Mutex(State())

    func tell() {
        state.withLock { state in
            state.isTold = true
            return state.takeWaiter()
        }?.resume()
    }

    /// Call it before you look: what is told meanwhile ends the next wait.
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
            state.withLock { $0.takeWaiter() }?.resume()
        }
    }
}
