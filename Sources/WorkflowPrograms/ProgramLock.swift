import Concurrency

/// Runs `body` while nobody else holds the lock of this file.
///
/// - Throws: ``ProgramCacheError`` if the file can't be created, `CancellationError`, and errors of `body`.
func withProgramLock<Result>(_ path: String, _ body: () async throws -> Result) async throws -> Result {
    do { return try await withFileLock(path, body) } catch let error as FileLockError {
        throw ProgramCacheError(path: error.path, errno: error.code)
    }
}
