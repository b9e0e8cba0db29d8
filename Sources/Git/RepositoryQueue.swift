internal import Dispatch
internal import Foundation
internal import Synchronization

/// Runs blocking libgit2 work off Swift's cooperative pool, with an open repository that it has for itself meanwhile.
///
/// A few calls run at a time, each on a thread of its own; the others wait in order. Throws what `body` throws, a
/// ``GitError`` when `path` cannot be opened, and `CancellationError` if the task was cancelled before its turn.
public func withRepository<T: Sendable>(
    at path: String, _ body: @Sendable @escaping (Repository) throws -> T
) async throws -> T {
    try await offPool { try RepositoryPool.lend(path, body) }
}

/// Runs blocking work on one of a bounded number of threads.
func offPool<T: Sendable>(_ body: @Sendable @escaping () throws -> T) async throws -> T {
    try Task.checkCancellation()
    let cancelled = CancellationFlag()
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            blockingWork.add {
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

/// libgit2 reads from disk and computes: twice the cores keep both busy.
private let blockingWork = BoundedWork(most: max(4, ProcessInfo.processInfo.activeProcessorCount * 2))

/// Some threads for work that may block; what comes while all are busy waits in order.
///
/// Several such pieces go on for each step of each run, and an `OperationQueue` takes as long for one as many of them do.
private final class BoundedWork: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var running = 0
        var waiting: [Work] = []
    }

    private let state = Mutex(State())
    private let most: Int
    private let queue = DispatchQueue(label: "git", attributes: .concurrent)

    init(most: Int) { self.most = most }

    func add(_ work: @escaping Work) {
        let begins = state.withLock { state in
            guard state.running < most else {
                state.waiting.append(work)
                return false
            }
            state.running += 1
            return true
        }
        if begins { queue.async { [self] in run(work) } }
    }

    private func run(_ first: @escaping Work) {
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
