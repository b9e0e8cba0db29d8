internal import GRDB
internal import Synchronization

/// Collects writes that arrive while another one is being committed, and commits them in one transaction.
///
/// A commit costs one flush of the disk, whatever it contains. Each write is a savepoint of its own: if one throws,
/// only its own changes are undone. A write is answered after its commit is on disk. Exceptions are writes that the
/// caller can repeat after a power cut: they are answered when the system has them, and are on disk with the next
/// flushed commit.
final class GroupCommit: Sendable {
    /// Called once: after the commit, or with the reason why there was none.
    private typealias Answer = ((any Error)?) -> Void

    private struct Write: Sendable {
        var isFlushed: Bool
        var perform: @Sendable (Database) -> Answer
        /// Fails a write that was not started.
        var refuse: @Sendable (any Error) -> Void
    }

    private let database: any DatabaseWriter
    private let pending = Mutex<[Write]>([])
    /// The flush setting of the writer's connection; nil before the first commit.
    private let isFlushing = Mutex<Bool?>(nil)
    /// How many transactions were committed, and through which of them all are on disk.
    private let counts = Mutex((committed: 0, flushed: 0))

    var committed: Int { counts.withLock { $0.committed } }

    /// Whether one of the first `count` transactions may not be on disk.
    func isBehind(_ count: Int) -> Bool { counts.withLock { $0.flushed < count } }

    /// Notes that the first `count` transactions are on disk: a flush that began after them has ended.
    func noteFlush(of count: Int) { counts.withLock { $0.flushed = max($0.flushed, count) } }

    init(_ database: any DatabaseWriter) { self.database = database }

    /// Runs `body` in a transaction. Cancelling the task does not undo it.
    ///
    /// - Parameter flushed: Whether the write must survive a power cut. One that is not flushed survives the end of
    ///   this process, and no later transaction is ever on disk without it.
    func write<T: Sendable>(
        flushed: Bool = true, _ body: @Sendable @escaping (Database) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            let write = Write(isFlushed: flushed) { db in
                let result = Result { try Self.savepoint(db, body) }
                return { failure in
                    if case .success = result, let failure { return continuation.resume(throwing: failure) }
                    continuation.resume(with: result)
                }
            } refuse: { error in
                continuation.resume(throwing: error)
            }
            let isFirst = pending.withLock { pending in
                pending.append(write)
                return pending.count == 1
            }
            // Writes that arrive later are taken along by the first one's turn.
            if isFirst { database.asyncWriteWithoutTransaction { db in self.commitPending(db) } }
        }
    }

    private static func savepoint<T>(_ db: Database, _ body: (Database) throws -> T) throws -> T {
        var value: T?
        try db.inSavepoint {
            value = try body(db)
            return .commit
        }
        guard let value else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        return value
    }

    /// Runs on GRDB's writer queue.
    private func commitPending(_ db: Database) {
        let writes = pending.withLock { pending in
            defer { pending = [] }
            return pending
        }
        commit(writes, db)
    }

    private func flushCommits(_ isFlushed: Bool, _ db: Database) throws {
        guard isFlushing.withLock({ $0 }) != isFlushed else { return }
        try db.execute(sql: "PRAGMA synchronous = \(isFlushed ? "FULL" : "NORMAL")")
        isFlushing.withLock { $0 = isFlushed }
    }

    private func commit(_ writes: [Write], _ db: Database) {
        var answers: [Answer] = []
        let isFlushed = writes.contains { $0.isFlushed }
        do {
            // With NORMAL, the log is not flushed at the commit. The next commit with FULL flushes all of it.
            try flushCommits(isFlushed, db)
            try db.beginTransaction(.immediate)
            for write in writes {
                answers.append(write.perform(db))
                // On a full disk or an I/O error, SQLite rolls back the whole transaction, not only the savepoint.
                guard db.isInsideTransaction else { throw DatabaseError(resultCode: .SQLITE_FULL) }
            }
            try db.commit()
            counts.withLock { counts in
                counts.committed += 1
                if isFlushed { counts.flushed = counts.committed }
            }
            for answer in answers { answer(nil) }
        } catch {
            if db.isInsideTransaction { try? db.rollback() }
            if writes.count > 1 {
                // No write was answered yet. A write that is too large for the disk must not make the small ones fail.
                for write in writes { commit([write], db) }
            } else {
                for answer in answers { answer(error) }
                if answers.isEmpty { for write in writes { write.refuse(error) } }
            }
        }
    }
}
