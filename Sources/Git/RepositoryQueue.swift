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
            blockingWork.addOperation {
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

/// libgit2 reads from disk and computes: twice the cores keep both busy, and no thread is ever created per call.
private let blockingWork: OperationQueue = {
    let queue = OperationQueue()
    queue.name = "git"
    queue.maxConcurrentOperationCount = max(4, ProcessInfo.processInfo.activeProcessorCount * 2)
    return queue
}()

private final class CancellationFlag: Sendable {
    private let flag = Mutex(false)
    var isSet: Bool { flag.withLock { $0 } }
    func set() { flag.withLock { $0 = true } }
}
