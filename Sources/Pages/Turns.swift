import Synchronization

/// Lets few do something at the same time; the others wait in order.
final class Turns: Sendable {
    private struct State {
        var free: Int
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var next = 0
    }

    private let state: Mutex<State>

    init(most: Int) { state = Mutex(State(free: most)) }

    /// - Throws: What `body` throws, and `CancellationError` if the task was cancelled before its turn.
    func take<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        guard await enter() else { throw CancellationError() }
        defer { leave() }
        return try await body()
    }

    private func enter() async -> Bool {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    guard state.free == 0 else {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    private func leave() {
        let next = state.withLock { state in
            if !state.waiting.isEmpty { return Optional(state.waiting.removeFirst()) }
            state.free += 1
            return nil
        }
        next?.continuation.resume(returning: true)
    }
}
