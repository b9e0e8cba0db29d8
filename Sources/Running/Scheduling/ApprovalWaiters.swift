package import Concurrency
package import Results
import Store
import Synchronization

/// Steps of this process that wait for approval, and the answers for them.
///
/// Questions and answers are in the index; this only wakes the waiters.
package final class ApprovalWaiters: Sendable {
    private struct Place: Hashable {
        var run: RunID
        var step: String
    }

    private struct State {
        var waiting: [Place: CheckedContinuation<Approval?, Never>] = [:]
        /// Answers that came between the question and the wait.
        var answers: [Place: Approval] = [:]
        /// Runs with a step that stopped waiting because the daemon shuts down.
        var sentAway: Set<RunID> = []
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    /// The answer for a step; nil if the signal comes first, the task is cancelled, or ``close()`` was called.
    package func answer(about step: String, of run: RunID, stop: StopSignal) async -> Approval? {
        await withTaskGroup(of: Approval?.self) { group in
            group.addTask { await self.answer(at: Place(run: run, step: step)) }
            group.addTask {
                _ = await stop.wait()
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Passes an answer to the step, now or when it starts to wait.
    package func pass(_ approval: Approval, to run: RunID) {
        guard let step = approval.step else { return }
        let place = Place(run: run, step: step)
        let waiter = state.withLock { state in
            let waiter = state.waiting.removeValue(forKey: place)
            if waiter == nil { state.answers[place] = approval }
            return waiter
        }
        waiter?.resume(returning: approval)
    }

    /// Ends all present and future waits: the daemon shuts down and nobody can be asked.
    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            state.sentAway.formUnion(state.waiting.keys.map(\.run))
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for waiter in waiters { waiter.resume(returning: nil) }
    }

    /// Forgets an ended run; returns whether one of its steps stopped waiting because of ``close()``.
    func leave(_ run: RunID) -> Bool {
        state.withLock { state in
            state.answers = state.answers.filter { $0.key.run != run }
            return state.sentAway.remove(run) != nil
        }
    }

    private func answer(at place: Place) async -> Approval? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Checked under the lock: a later answer, end or cancellation finds the waiter.
                let answer: Approval?? = state.withLock { state in
                    if let answer = state.answers.removeValue(forKey: place) { return .some(answer) }
                    if state.isClosed {
                        state.sentAway.insert(place.run)
                        return .some(nil)
                    }
                    if Task.isCancelled { return .some(nil) }
                    state.waiting[place] = continuation
                    return .none
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: place) }?.resume(returning: nil)
        }
    }
}
