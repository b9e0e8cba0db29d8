internal import Results
public import Foundation
internal import GRDB

/// The daemon's backup of the store, and how it is restored.
extension Index {
    /// The backup's path for the store at `path`: `index.backup.sqlite` for `index.sqlite`.
    public static func backupPath(of path: String) -> String {
        (path.hasSuffix(".sqlite") ? String(path.dropLast(".sqlite".count)) : path) + ".backup.sqlite"
    }

    /// When the backup was made; nil if there is none.
    public static func backupDate(of path: String) -> Date? {
        let facts = try? FileManager.default.attributesOfItem(atPath: backupPath(of: path))
        guard let size = facts?[.size] as? NSNumber, size.intValue > 0 else { return nil }
        return facts?[.modificationDate] as? Date
    }

    /// The command that repairs a store that can't be used.
    static func remedy(_ path: String) -> String {
        if let date = backupDate(of: path) {
            return
                "`pipectl archive restore` keeps it under another name, restores the daemon's copy of \(date.iso8601) and adds what "
                + "archive.git has since."
        }
        return
            "`pipectl archive reindex` keeps it under another name and builds a new one from archive.git; waiting runs are "
            + "not in archive.git."
    }

    /// The error for a store that is missing or empty although the archive has `runs` runs. A new one would lose them.
    public static func missing(_ path: String, runs: Int) -> ArchiveError {
        ArchiveError(
            .missingIndex,
            "The index \"\(path)\" is missing or empty, and archive.git has \(runs) runs: a new one would lose what was "
                + "tested. \(remedy(path))")
    }

    /// Replaces the backup by one of now, after both files were checked. Blocks; writers do not wait for it.
    ///
    /// - Throws: `.damagedIndex` if a page is wrong. Then the existing backup stays.
    public func backUp() throws {
        let (source, copy) = (path, Self.backupPath(of: path))
        let new = copy + ".new"
        Self.removeDatabase(new)
        do {
            var configuration = Configuration()
            // A connection of its own, which can neither write nor do the writer's checkpoints.
            configuration.readonly = true
            configuration.busyMode = .timeout(10)
            do {
                let queue = try DatabaseQueue(path: source, configuration: configuration)
                try queue.inDatabase { db in
                    try Self.requireSound(db, source)
                    try db.execute(sql: "VACUUM INTO ?", arguments: [new])
                }
                try queue.close()
            }
            try Self.checkPages(new)
            try Self.flush(new)
            guard rename(new, copy) == 0 else { throw Self.unusable(copy, errno) }
            try Self.flush((copy as NSString).deletingLastPathComponent)
        } catch {
            Self.removeDatabase(new)
            if let error = error as? DatabaseError { throw Self.explain(error, source) }
            throw error
        }
    }

    /// Moves the backup into the place of the store, which is kept under another name. No process may have either open.
    ///
    /// Call ``forgetSinceBackup(of:)`` after it, once the runs that have ended since were restored from the archive.
    ///
    /// - Returns: The date of the backup.
    public static func restoreBackup(path: String) throws -> Date {
        guard let date = backupDate(of: path) else {
            throw ArchiveError(
                .missingIndex,
                "There is no copy \"\(backupPath(of: path))\". `pipectl archive reindex` builds an index from archive.git."
            )
        }
        let (copy, new) = (backupPath(of: path), path + ".new")
        removeDatabase(new)
        do {
            try checkPages(copy)
            try FileManager.default.copyItem(atPath: copy, toPath: new)
            try flush(new)
        } catch let error as DatabaseError {
            throw explain(error, copy)
        }
        if FileManager.default.fileExists(atPath: path) { _ = try setAside(path: path) }
        // The log of the old database must not be applied to the backup.
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        guard rename(new, path) == 0 else { throw unusable(path, errno) }
        try flush((path as NSString).deletingLastPathComponent)
        return date
    }

    /// Makes a restored store safe: what happened since `date` is unknown, so nothing is started because of older
    /// facts.
    ///
    /// The next observation of each repository is a baseline. Release runs that had not ended must be checked by a
    /// person, because they may have been started since.
    public func forgetSinceBackup(of date: Date) async throws {
        let now = now()
        try await write { db in
            try db.execute(sql: "UPDATE repository SET baselineAt = NULL")
            let open = try RunID.fetchAll(
                db,
                sql: "SELECT id FROM run WHERE state <> 'ended' AND json_extract(request, '$.runsAtMostOnce')")
            for id in open {
                try Self.end(
                    id, .infrastructure,
                    "unknown: check it by hand: the index was restored from its copy of \(date.iso8601), and whether this run "
                        + "was started since then is not known. Check what was done; `pipectl rerun \(id)` repeats all of it.",
                    at: now, db)
            }
        }
    }

    /// Checks every page of the database at `path`, without changing it.
    static func checkPages(_ path: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try requireSound($0, path) }
        try queue.close()
    }

    private static func requireSound(_ db: Database, _ path: String) throws {
        let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(5)")
        guard findings != ["ok"] else { return }
        throw damaged(path, findings.joined(separator: "; "))
    }

    static func flush(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unusable(path, errno) }
        defer { close(file) }
        #if os(macOS)
            // fsync on macOS leaves the bytes in the drive's cache.
            guard fcntl(file, F_FULLFSYNC) != -1 else { throw unusable(path, errno) }
        #else
            guard fsync(file) == 0 else { throw unusable(path, errno) }
        #endif
    }

    private static func removeDatabase(_ path: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private static func unusable(_ path: String, _ code: Int32) -> ArchiveError {
        ArchiveError(
            code == ENOSPC ? .diskFull : .unusableIndex,
            "\"\(path)\" can't be written: \(String(cString: strerror(code))).")
    }
}
