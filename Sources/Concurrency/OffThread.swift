internal import Foundation

/// Runs short blocking work, such as that on files, on a thread outside the cooperative pool, whose few threads must never
/// block.
///
/// Work that may block for as long as a step takes has a thread of its own: see ``onOwnThread(_:)``. Work of which only a
/// few pieces may go on at a time, such as that on one database, is given to a ``BoundedWork``.
///
/// - Throws: What `body` throws.
package func offThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}
