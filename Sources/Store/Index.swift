public import Foundation
internal import GRDB
internal import Results
internal import Git
internal import Synchronization

/// What is wanted, under way and done, in SQLite: the queue, the ref cursors, and the searchable side of every run.
///
/// What happened is kept by ``ArchiveStore``; for ended runs the index can be rebuilt from it. Each method is one
/// transaction, on disk when it returns: it survives a power cut. Those that are not say what a power cut makes of it. One
/// process opens an index at a time.
public final class Index: Sendable {
    /// What ``init(path:check:now:)`` looks at before it trusts the file.
    public enum Check: Sendable {
        /// Every page, by `PRAGMA quick_check`: 3 to 4 seconds per gigabyte. For the daemon.
        case pages
        /// Only what opening needs. For a command that shows something.
        case none
    }

    private static let mostReaders = 3

    let path: String
    private let database: any DatabaseWriter
    private let writes: GroupCommit
    /// GRDB changes threads four times for one read, each of which takes longer than a short one.
    private let reads = BoundedWork("index", most: Index.mostReaders)
    let now: @Sendable () -> Date
    /// How many looks were recorded, and how many of these are certainly on disk.
    private let looks = Mutex((recorded: 0, flushed: 0))

    /// Opens the index at `path`, and creates it if there is none.
    ///
    /// Throws ``ArchiveError`` with `.damagedIndex`, `.newerIndex` or `.unusableIndex`; the file is left as it is.
    public convenience init(
        path: String, check: Check = .pages, now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        do {
            // By a connection that can't write: one that can would write the log into a damaged file when it closes.
            if check == .pages, FileManager.default.fileExists(atPath: path) { try Self.checkPages(path) }
            var configuration = Configuration()
            // A command may read while the daemon writes; a writer never waits for a reader in WAL.
            configuration.busyMode = .timeout(10)
            configuration.label = "pipectl index"
            // Each keeps a connection and a page cache of its own, and few commands ask at the same time.
            configuration.maximumReaderCount = Index.mostReaders
            let pool = try DatabasePool(path: path, configuration: configuration)
            try pool.writeWithoutTransaction { db in
                // GRDB sets NORMAL with WAL: a power cut could then take back runs that were accepted.
                try db.execute(sql: "PRAGMA synchronous = FULL")
                // A savepoint's own journal and what is sorted: a file made and removed for each transaction otherwise.
                try db.execute(sql: "PRAGMA temp_store = MEMORY")
                #if os(macOS)
                    // fsync on macOS leaves the bytes in the drive's cache.
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

    /// Moves a damaged index out of the way, with its log, so that a new one can be made; returns its new path.
    ///
    /// No process may have it open.
    public static func setAside(path: String, at time: Date = Date()) throws -> String {
        let aside = "\(path).damaged-\(time.milliseconds)"
        for suffix in ["-wal", "-shm", ""] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.moveItem(atPath: path + suffix, toPath: aside + suffix)
        }
        return aside
    }

    /// An index that lives as long as the value.
    public static func inMemory(now: @escaping @Sendable () -> Date = { Date() }) throws -> Index {
        try Index(DatabaseQueue(), path: ":memory:", now: now)
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

    /// One transaction, on disk when this returns; without `flushed`, on disk with the next one.
    func write<T: Sendable>(
        flushed: Bool = true, _ body: @Sendable @escaping (Database) throws -> T
    ) async throws -> T {
        do {
            return try await writes.write(flushed: flushed, body)
        } catch let error as DatabaseError {
            throw Self.explain(error, path)
        }
    }

    /// Whether the last transaction was on disk when it had ended.
    var hasFlushed: Bool { writes.hasFlushed }

    /// To be called in the transaction that records a look and is not flushed: whoever knows of it then has a flush that
    /// comes after.
    func noteLook() { looks.withLock { $0.recorded += 1 } }

    /// Has all looks on disk that were recorded until now; see ``recordLook(repository:moved:requests:changes:)``.
    public func flushLooks() async throws {
        let (recorded, flushed) = looks.withLock { $0 }
        guard flushed < recorded else { return }
        try await flush()
        looks.withLock { $0.flushed = max($0.flushed, recorded) }
    }

    /// Has all that was written until now on disk.
    package func flush() async throws {
        // Only a transaction that writes a page is flushed, and SQLite does not write one that it finds as it was.
        try await write { db in
            for sign in ["+", "-"] {
                try db.execute(sql: "UPDATE sqlite_sequence SET seq = seq \(sign) 1 WHERE name = 'run'")
            }
        }
    }

    /// One look at a moment of the database that no write disturbs; ends with the task.
    func read<T: Sendable>(_ body: @Sendable @escaping (Database) throws -> T) async throws -> T {
        do {
            return try await database.read(body)
        } catch let error as DatabaseError {
            throw Self.explain(error, path)
        }
    }

    /// The same for what takes less than a millisecond and is asked for each push or run; goes on when the task ends.
    func shortRead<T: Sendable>(_ body: @Sendable @escaping (Database) throws -> T) async throws -> T {
        do {
            return try await reads.run { [database] in try database.read(body) }
        } catch let error as DatabaseError {
            throw Self.explain(error, path)
        }
    }

    /// Closes readers and empties page caches, once what goes on has ended; the next question opens them again.
    public func releaseMemory() { (database as? DatabasePool)?.releaseMemoryEventually() }

    /// Writes what is in the log into the file, as far as readers let it, so that a lost log takes little with it.
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
