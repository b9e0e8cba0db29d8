#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Runs `body` while no other process (and no other call in this one) holds the lock of this file.
///
/// The file is never removed; the kernel releases the lock when its holder ends.
/// - Throws: ``ProgramCacheError`` if the file can't be created, `CancellationError`, and errors of `body`.
func withFileLock<Result>(_ path: String, _ body: () async throws -> Result) async throws -> Result {
    let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw ProgramCacheError(path: path, errno: errno) }
    // Closing unlocks.
    defer { close(file) }
    // The lock is polled: a blocking flock(2) would hold a thread of the pool.
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        guard code == EWOULDBLOCK || code == EINTR else { throw ProgramCacheError(path: path, errno: code) }
        try await Task.sleep(for: .milliseconds(20))
    }
    return try await body()
}
