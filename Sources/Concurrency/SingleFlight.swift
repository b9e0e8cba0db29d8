import Synchronization

/// Lets those who want the same thing at the same time wait for one of them to make it.
///
/// Nothing is remembered: who comes after the end makes it again (or finds it on disk).
package final class SingleFlight<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Role, Never>
    private enum Role: Sendable {
        case lead
        case ended(Result<Value, any Error>)
    }

    private struct State {
        /// The waiters for each key that someone is making.
        var waiters: [String: [Int: Waiter]] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The value that `make` returns or throws, made by whoever came first.
    ///
    /// When the one who makes it is cancelled, the next one takes over; cancellation is nobody else's failure.
    package func value(for key: String, make: () async throws -> Value) async throws -> Value {
        switch await role(for: key) {
        case .ended(let result): return try result.get()
        case .lead: break
        }
        do {
            try Task.checkCancellation()
            let value = try await make()
            finish(key, .success(value))
            return value
        } catch is CancellationError {
            handOver(key)
            throw CancellationError()
        } catch {
            finish(key, .failure(error))
            throw error
        }
    }

    private func role(for key: String) async -> Role {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let role: Role? = state.withLock { state in
                    // The handler below may have run before: then nobody would wake this waiter.
                    if Task.isCancelled { return .ended(.failure(CancellationError())) }
                    guard state.waiters[key] != nil else {
                        state.waiters[key] = [:]
                        return .lead
                    }
                    state.waiters[key]?[number] = continuation
                    return nil
                }
                if let role { continuation.resume(returning: role) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters[key]?.removeValue(forKey: number) }
            waiter?.resume(returning: .ended(.failure(CancellationError())))
        }
    }

    private func finish(_ key: String, _ result: Result<Value, any Error>) {
        let waiters = state.withLock { $0.waiters.removeValue(forKey: key) } ?? [:]
        for waiter in waiters.values { waiter.resume(returning: .ended(result)) }
    }

    private func handOver(_ key: String) {
        let next: Waiter? = state.withLock { state in
            guard let first = state.waiters[key]?.keys.min() else {
                state.waiters[key] = nil
                return nil
            }
            return state.waiters[key]?.removeValue(forKey: first)
        }
        next?.resume(returning: .lead)
    }
}
