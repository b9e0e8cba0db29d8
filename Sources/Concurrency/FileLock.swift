#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The file of a lock can't be opened or locked.
package struct FileLockError: Error, Sendable {
    package let path: String
    /// As the system numbers errors.
    package let code: Int32
}

/// Runs `body` while no other process (and no other call in this one) holds the lock of this file.
///
/// The file is never removed; the kernel releases the lock when its holder ends.
/// - Throws: ``FileLockError``, `CancellationError`, and errors of `body`.
package func withFileLock<Result>(_ path: String, _ body: () async throws -> Result) async throws -> Result {
    var file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o660)
    // Another user made it, in a folder that both may write to.
    if file < 0, errno == EACCES { file = open(path, O_RDONLY | O_CLOEXEC) }
    guard file >= 0 else { throw FileLockError(path: path, code: errno) }
    // Closing unlocks.
    defer { close(file) }
    // The lock is polled: a blocking flock(2) would hold a thread of the pool.
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        guard code == EWOULDBLOCK || code == EINTR else { throw FileLockError(path: path, code: code) }
        try await Task.sleep(for: .milliseconds(20))
    }
    return try await body()
}
