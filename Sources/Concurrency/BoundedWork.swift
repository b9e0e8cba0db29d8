internal import Dispatch
internal import Synchronization

/// A fixed number of threads for work that may block, off Swift's cooperative pool. Work that arrives while all threads
/// are busy waits in order.
///
/// Several such pieces of work run for each step. An `OperationQueue` takes longer to start one than many of them take.
package final class BoundedWork: Sendable {
    private typealias Work = @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting: [Work] = []
    }

    private let state = Mutex(State())
    private let most: Int
    private let queue: DispatchQueue

    /// - Parameters:
    ///   - name: The name of its threads.
    ///   - most: The most pieces of work that run at the same time.
    package init(_ name: String, most: Int) {
        self.most = most
        queue = DispatchQueue(label: name, attributes: .concurrent)
    }

    /// Runs `body` on one of the threads.
    ///
    /// - Throws: What `body` throws, and `CancellationError` if the task was cancelled before its turn.
    package func run<T: Sendable>(_ body: @Sendable @escaping () throws -> T) async throws -> T {
        try Task.checkCancellation()
        let cancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add {
                    continuation.resume(
                        with: Result {
                            if cancelled.isSet { throw CancellationError() }
                            return try body()
                        })
                }
            }
        } onCancel: {
            cancelled.set()
        }
    }

    private func add(_ work: @escaping Work) {
        let begins = state.withLock { state in
            guard state.running < most else {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        if begins { queue.async { [self] in turn(from: work) } }
    }

    private func turn(from first: @escaping Work) {
        var next: Work? = first
        while let work = next {
            work()
            next = state.withLock { state in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.running -= 1
                return nil
            }
        }
    }
}

private final class CancellationFlag: Sendable {
    private let flag = Mutex(false)
    var isSet: Bool { flag.withLock { $0 } }
    func set() { flag.withLock { $0 = true } }
}
