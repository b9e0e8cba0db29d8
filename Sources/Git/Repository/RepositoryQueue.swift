import Concurrency
internal import Foundation

/// Runs blocking libgit2 work off Swift's cooperative pool, with an open repository that no other call uses meanwhile.
///
/// A few calls run at the same time, each on a thread of its own; the others wait in order.
///
/// - Throws: What `body` throws, a ``GitError`` if `path` can't be opened, and `CancellationError` if the task was
///   cancelled before its turn.
public func withRepository<T: Sendable>(
    at path: String, _ body: @Sendable @escaping (Repository) throws -> T
) async throws -> T {
    try await blockingWork.run { try RepositoryPool.lend(path, body) }
}

/// libgit2 reads from disk and computes; twice the number of cores keeps both busy.
let blockingWork = BoundedWork("git", most: max(4, ProcessInfo.processInfo.activeProcessorCount * 2))
