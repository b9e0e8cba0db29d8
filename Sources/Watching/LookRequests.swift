import Synchronization

/// Requests for observations of one repository, and the tasks that wait for the end of one.
final class LookRequests: Sendable {
    private struct State {
        /// The number of observations that were started.
        var begun = 0
        var waiters = 0
        /// Tasks that wait for the end of the observation with this number or a later one.
        var waiting: [Int: (look: Int, continuation: CheckedContinuation<Bool, Never>)] = [:]
    }

    /// An element if there were requests since the last one was taken.
    let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init() { (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    /// Requests an observation as soon as possible.
    func wakeUp() { wake.yield() }

    /// Requests an observation, and returns when one that started after this call has ended; true if it succeeded.
    ///
    /// All callers during one observation wait for the same next one.
    func next() async -> Bool {
        let number = state.withLock { state -> Int in
            state.waiters += 1
            return state.waiters
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Checked under the lock: a later cancellation finds the waiter.
                let isWaiting = state.withLock { state -> Bool in
                    guard !Task.isCancelled else { return false }
                    state.waiting[number] = (state.begun + 1, continuation)
                    return true
                }
                if isWaiting { wake.yield() } else { continuation.resume(returning: false) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume(returning: false)
        }
    }

    /// Counts an observation that starts now, and returns its number.
    func begin() -> Int {
        state.withLock { state -> Int in
            state.begun += 1
            return state.begun
        }
    }

    /// Ends the wait for this observation and all earlier ones.
    func end(_ look: Int, succeeded: Bool) {
        let ended = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            let ended = state.waiting.filter { $0.value.look <= look }
            for number in ended.keys { state.waiting[number] = nil }
            return ended.values.map(\.continuation)
        }
        for continuation in ended { continuation.resume(returning: succeeded) }
    }
}
