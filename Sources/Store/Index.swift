import Concurrency
public import Foundation
internal import GRDB
internal import Results
internal import Git

/// The queue, the ref cursors, and the searchable parts of every run, in SQLite.
///
/// ``ArchiveStore`` has the reports of ended runs, from which their part of the store can be rebuilt. Each method is one
/// transaction, which is on disk when it returns, so that it survives a power cut; methods for which that is not so say
/// what a power cut does. Only one process may write a store at a time.
public final class Index: Sendable {
    /// What ``init(path:check:now:)`` checks before it uses the file.
    public enum Check: Sendable {
        /// Every page, by `PRAGMA quick_check`: 3 to 4 seconds per gigabyte. For the daemon.
        case pages
        /// Only what opening the file checks. For commands that show something.
        case none
    }

    private static let mostReaders = 3

    let path: String
    private let database: any DatabaseWriter
    private let writes: GroupCommit
    /// GRDB changes threads four times for one read, which takes longer than a short read itself.
    private let reads = BoundedWork("index", most: Index.mostReaders)
    let now: @Sendable () -> Date

    /// Opens the store at `path`, and creates it if there is none.
    ///
    /// - Throws: ``ArchiveError`` with `.damagedIndex`, `.newerIndex` or `.unusableIndex`. The file is not changed
    ///   then.
    public convenience init(
        path: String, check: Check = .pages, now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        do {
            // Checks with a read-only connection: closing a writable one would write the log into a damaged file.
            if check == .pages, FileManager.default.fileExists(atPath: path) { try Self.checkPages(path) }
            var configuration = Configuration()
            // A command may read while the daemon writes. In WAL mode, a writer never waits for a reader.
            configuration.busyMode = .timeout(10)
            configuration.label = "pipectl index"
            // Each reader has a connection and a page cache, and few commands ask at the same time.
            configuration.maximumReaderCount = Index.mostReaders
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { db in
                // With WAL, GRDB would set NORMAL: then a power cut could undo the acceptance of runs.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                // Savepoint journals and sorting stay in memory. Otherwise each transaction would make and remove a
                // file.
                try db.execute(sql: "PRAGMA temp_store = MEMORY")
                #if os(macOS)
                    // On macOS, fsync leaves the bytes in the drive's cache.
                    try db.execute(sql: "PRAGMA fullfsync = ON")
                #endif
            }
            try self.init(pool, path: path, now: now)
        } catch let error as DatabaseError {
            throw Self.explain(error, path)
        } catch let error as ArchiveError where error.code == .newerIndex {
            throw ArchiveError(.newerIndex, "\"\(path)\" \(error.description)")
        }
    }

    /// The store at `path` for reading only, beside a process that may write to it.
    ///
    /// - Returns: Nil if there is none, or one of an older version, in which no files can wait for the archive.
    /// - Throws: ``ArchiveError`` with `.damagedIndex` or `.unusableIndex`.
    public static func reader(path: String) throws -> Index? {
        let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
        guard let size, size.intValue > 0 else { return nil }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(10)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            guard try queue.read({ try $0.tableExists("archiveQueue") }) else { return nil }
            return Index(reading: queue, path: path)
        } catch let error as DatabaseError {
            throw explain(error, path)
        }
    }

    /// Moves a damaged store and its log away, so that a new one can be made. No process may have it open.
    ///
    /// - Returns: The new path.
    public static func setAside(path: String, at time: Date = Date()) throws -> String {
        let aside = "\(path).damaged-\(time.milliseconds)"
        for suffix in ["-wal", "-shm", ""] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
        }
        return aside
    }

    /// A store in memory, which lives as long as the value.
    public static func inMemory(now: @escaping @Sendable () -> Date = { Date() }) throws -> Index {
        try Index(DatabaseQueue(), path: ":memory:", now: now)
    }

    private init(reading database: DatabaseQueue, path: String) {
        self.path = path
        self.database = database
        now = { Date() }
        writes = GroupCommit(database)
    }

    private init(_ database: any DatabaseWriter, path: String, now: @escaping @Sendable () -> Date) throws {
        self.path = path
        self.database = database
        self.now = now
        writes = GroupCommit(database)
        try database.read { db in
            guard try Self.migrator.hasBeenSuperseded(db) else { return }
            let known = Set(Self.migrator.migrations)
            let unknown = try Self.migrator.appliedIdentifiers(db).subtracting(known).sorted()
            throw ArchiveError(
                .newerIndex,
                "was written by a newer pipectl (it has \"\(unknown.joined(separator: "\", \""))\"). Use that version, "
                    + "or set PIPECTL_HOME to another folder.")
        }
        try Self.migrator.migrate(database)
    }

    /// Runs one transaction, which is on disk when this returns; without `flushed`, it is on disk with the next flushed
    /// one.
    func write<T: Sendable>(
        flushed: Bool = true, _ body: @Sendable @escaping (Database) throws -> T
    ) async throws -> T {
        do {
            return try await writes.write(flushed: flushed, body)
        } catch let error as DatabaseError {
            throw Self.explain(error, path)
        }
    }

    /// Whether a transaction was committed that may not be on disk.
    var hasUnflushed: Bool { writes.isBehind(writes.committed) }

    /// Flushes all observations that were recorded until now: see ``recordLook(repository:moved:requests:changes:)``.
    ///
    /// - Throws: `.diskFull` or `.unusableIndex` if the disk refuses that.
    public func flushLooks() async throws {
        let committed = writes.committed
        guard hasUnflushed else { return }
        // The log has everything that was not flushed. No process holds a lock on it, so closing it here releases none.
        try await reads.run { [log = path + "-wal"] in
            if FileManager.default.fileExists(atPath: log) { try Self.flush(log) }
        }
        writes.noteFlush(of: committed)
    }

    /// Reads from one state of the database, which writes do not change. Ends when the task is cancelled.
    func read<T: Sendable>(_ body: @Sendable @escaping (Database) throws -> T) async throws -> T {
        do {
            return try await database.read(body)
        } catch let error as DatabaseError {
            throw Self.explain(error, path)
        }
    }

    /// The same for reads of less than a millisecond, which happen with each push or run. It does not end when the task
    /// is cancelled.
    func shortRead<T: Sendable>(_ body: @Sendable @escaping (Database) throws -> T) async throws -> T {
        do {
            return try await reads.run { [database] in try database.read(body) }
        } catch let error as DatabaseError {
            throw Self.explain(error, path)
        }
    }

    /// Closes readers and empties page caches once running reads have ended. The next read opens them again.
    public func releaseMemory() { (database as? DatabasePool)?.releaseMemoryEventually() }

    /// Writes the log into the file, as far as readers allow it, so that losing the log would lose little.
    public func checkpoint() async throws {
        do {
            _ = try await database.writeWithoutTransaction { db in try db.checkpoint(.passive) }
        } catch let error as DatabaseError {
            throw Self.explain(error, path)
        }
    }

    static func damaged(_ path: String, _ facts: String, _ cause: (any Error)? = nil) -> ArchiveError {
        ArchiveError(
            .damagedIndex,
            "The index \"\(path)\" is damaged: \(facts). The file is left as it is. \(remedy(path))", cause: cause)
    }

    static func explain(_ error: DatabaseError, _ path: String) -> ArchiveError {
        let facts = error.message ?? "SQLite error \(error.extendedResultCode.rawValue)"
        switch error.resultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT:
            return damaged(path, facts, error)
        case .SQLITE_FULL:
            return ArchiveError(
                .diskFull, "The disk of \"\(path)\" is full: nothing was recorded. Free space, then try again.",
                cause: error)
        default:
            return ArchiveError(
                .unusableIndex,
                "The index \"\(path)\" can't be used: \(facts). Check that its folder exists, belongs to you and can "
                    + "be written.", cause: error)
        }
    }
}
