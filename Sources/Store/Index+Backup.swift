internal import Results
public import Foundation
internal import GRDB

/// The copy of the index that the daemon keeps, and how it comes back.
extension Index {
    /// Where the copy of the index at `path` is: `index.backup.sqlite` for `index.sqlite`.
    public static func backupPath(of path: String) -> String {
        (path.hasSuffix(".sqlite") ? String(path.dropLast(".sqlite".count)) : path) + ".backup.sqlite"
    }

    /// When the copy was made; nil if there is none.
    public static func backupDate(of path: String) -> Date? {
        let facts = try? FileManager.default.attributesOfItem(atPath: backupPath(of: path))
        guard let size = facts?[.size] as? NSNumber, size.intValue > 0 else { return nil }
        return facts?[.modificationDate] as? Date
    }

    /// What mends an index that can't be used: one command.
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

    /// Why an index that is not there, or an empty file, is not begun anew beside an archive that has `runs` runs.
    public static func missing(_ path: String, runs: Int) -> ArchiveError {
        ArchiveError(
            .missingIndex,
            "The index \"\(path)\" is missing or empty, and archive.git has \(runs) runs: a new one would lose what was "
                + "tested. \(remedy(path))")
    }

    /// Replaces the copy by one of now, after both were checked; blocks. Writers don't wait for it, whatever it takes.
    ///
    /// Throws `.damagedIndex`, and keeps the copy that is there, when a page is wrong.
    public func backUp() throws {
        let (source, copy) = (path, Self.backupPath(of: path))
        let new = copy + ".new"
        Self.removeDatabase(new)
        do {
            var configuration = Configuration()
            // A connection of its own: it can neither write nor take a checkpoint from the one that does.
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

    /// Puts the copy in the place of the index, which is kept; returns the copy's date. No process may have either open.
    ///
    /// Follow it with ``forgetSinceBackup(of:)``, after the archive was asked what has ended since.
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
        // A log without its database must not be taken for one of the copy.
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        guard rename(new, path) == 0 else { throw unusable(path, errno) }
        try flush((path as NSString).deletingLastPathComponent)
        return date
    }

    /// After a restore: what happened since `date` is not known here, so nothing is begun because of what was.
    ///
    /// The next look at each repository is a baseline. Runs that act on the world and had not ended need a person: they
    /// may have been started since.
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

    /// Looks at every page of the database at `path`, and leaves it as it is.
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

    private static func flush(_ path: String) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unusable(path, errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw unusable(path, errno) }
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
