package import Results
internal import Foundation
internal import GRDB

/// One file of an ended run, as `archive.git` is to have it.
package struct ArchiveFile: Sendable, Equatable {
    /// Its path in the run's tree: `report.json`, `logs/001-1.log`.
    package var path: String
    /// Nil for a large file, whose bytes are on disk beside the index.
    package var content: [UInt8]?

    package init(path: String, content: [UInt8]?) {
        self.path = path
        self.content = content
    }
}

/// What waits of one run.
package struct QueuedArchiveFiles: Sendable, Equatable {
    /// The rows, for ``Index/removeFromArchiveQueue(_:)``.
    package var rows: [Int64]
    package var files: [ArchiveFile]

    /// Whether these are all files of the run. Otherwise they replace files that the archive has.
    package var isWholeRun: Bool { files.contains { $0.path == "request.json" } }
}

/// Files of ended runs that `archive.git` does not have yet. They come here in the transaction that ends the run, and
/// leave when the archive has them on disk.
extension Index {
    static func createArchiveQueue(_ db: Database) throws {
        try db.create(table: "archiveQueue") { table in
            // Never used again: a row that replaces another one while that is archived must not be removed for it.
            table.autoIncrementedPrimaryKey("id")
            table.column("run", .integer).notNull().references("run", onDelete: .cascade)
            table.column("path", .text).notNull()
            table.column("content", .blob)
            table.uniqueKey(["run", "path"])
        }
    }

    /// Runs with files that wait, oldest first.
    package func queuedForArchive() async throws -> [RunID] {
        try await read { db in try RunID.fetchAll(db, sql: "SELECT DISTINCT run FROM archiveQueue ORDER BY run") }
    }

    /// All that waits of one run; nil if nothing does.
    package func queuedArchiveFiles(of run: RunID) async throws -> QueuedArchiveFiles? {
        try await read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT id, path, content FROM archiveQueue WHERE run = ? ORDER BY path", arguments: [run])
            if rows.isEmpty { return nil }
            return QueuedArchiveFiles(rows: rows.map { $0["id"] }, files: rows.map(Self.archiveFile))
        }
    }

    /// One file that waits; nil if it does not.
    package func queuedArchiveFile(_ path: String, of run: RunID) async throws -> ArchiveFile? {
        try await read { db in
            try Row.fetchOne(
                db, sql: "SELECT path, content FROM archiveQueue WHERE run = ? AND path = ?", arguments: [run, path]
            ).map(Self.archiveFile)
        }
    }

    /// The paths of all files that wait of one run, sorted.
    package func queuedArchivePaths(of run: RunID) async throws -> [String] {
        try await read { db in
            try String.fetchAll(
                db, sql: "SELECT path FROM archiveQueue WHERE run = ? ORDER BY path", arguments: [run])
        }
    }

    /// Removes rows whose files the archive has. Rows that took their place meanwhile stay.
    package func removeFromArchiveQueue(_ rows: [Int64]) async throws {
        if rows.isEmpty { return }
        try await write { db in
            let remove = try db.cachedStatement(sql: "DELETE FROM archiveQueue WHERE id = ?")
            for row in rows { try remove.execute(arguments: [row]) }
        }
    }

    /// Replaces the report of a run that ended with a question by the one that the answer has made of it, and gives the
    /// run its verdict.
    ///
    /// Repeating it changes nothing. Throws `.verdictGiven` where the run did not end with a question.
    package func amend(_ report: Report, archiving file: ArchiveFile) async throws {
        try await write { db in
            let verdict = try String.fetchOne(db, sql: "SELECT verdict FROM run WHERE id = ?", arguments: [report.id])
            guard [Verdict.needsApproval.rawValue, report.verdict.rawValue].contains(verdict) else {
                throw ArchiveError(
                    .verdictGiven,
                    "Run \(report.id) has the verdict \"\(verdict ?? "none")\"; it did not ask for approval.",
                    run: report.id)
            }
            try db.execute(
                sql: "UPDATE run SET verdict = ?, reason = ? WHERE id = ?",
                arguments: [report.verdict.rawValue, report.reason, report.id])
            try Self.queue([file], of: report.id, db)
        }
    }

    /// Replaces the report of a failed run by one that says what was done about it.
    package func setFixState(_ state: FixSeries.State, of run: RunID, archiving file: ArchiveFile) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE run SET fixState = ? WHERE id = ?", arguments: [state.rawValue, run])
            try Self.queue([file], of: run, db)
        }
    }

    static func queue(_ files: [ArchiveFile], of run: RunID, _ db: Database) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO archiveQueue (run, path, content) VALUES (?, ?, ?)")
        for file in files {
            try insert.execute(arguments: [run, file.path, file.content.map { Data($0) }])
        }
    }

    private static func archiveFile(_ row: Row) -> ArchiveFile {
        ArchiveFile(path: row["path"], content: (row["content"] as Data?).map { [UInt8]($0) })
    }
}
