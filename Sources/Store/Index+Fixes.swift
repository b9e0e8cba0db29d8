public import Results
internal import Foundation
internal import GRDB
internal import Pipeline

/// What the index knows of fixes: which runs belong to one, and what is yet to follow from a run's end.
extension Index {
    static func createFix(_ db: Database) throws {
        try db.alter(table: "run") { table in
            // The failed run that this one is to mend; null for all others.
            table.add(column: "fixOf", .integer)
            table.add(column: "fixState", .text)
            // Set with the verdict and cleared when what follows from it is done: a crash between loses nothing.
            table.add(column: "isFixDue", .boolean).notNull().defaults(to: false)
        }
        try db.execute(
            sql: """
                CREATE INDEX run_fixOf ON run (fixOf, id) WHERE fixOf IS NOT NULL;
                CREATE INDEX run_fixDue ON run (id) WHERE isFixDue;
                """)
    }

    /// The runs that were made to mend this one, oldest first.
    public func fixRuns(of run: RunID) async throws -> [IndexedRun] {
        let ids = try await read { db in
            try RunID.fetchAll(
                db, sql: "SELECT id FROM run WHERE fixOf = ? AND fixOf IS NOT NULL ORDER BY id", arguments: [run])
        }
        var runs: [IndexedRun] = []
        for id in ids { if let run = try await self.run(id) { runs.append(run) } }
        return runs
    }

    /// Whether this head of a change was tried to be mended, by a fixer that was not called off.
    public func hasFix(repository: String, workflow: String, change: String, head: String) async throws -> Bool {
        try await read { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (
                        SELECT 1 FROM run WHERE head = ? AND fixOf IS NOT NULL AND workflow = ? AND changeName = ?
                            AND json_extract(request, '$.fix.maker') IS NULL
                            AND repository = (SELECT id FROM repository WHERE name = ?)
                            AND coalesce(verdict, '') NOT IN ('superseded', 'cancelled'))
                    """, arguments: [head, workflow, change, repository]) ?? false
        }
    }

    /// Ended runs from which something is yet to follow for a fix, oldest first.
    public func dueFixes() async throws -> [RunID] {
        try await read { db in try RunID.fetchAll(db, sql: "SELECT id FROM run WHERE isFixDue ORDER BY id") }
    }

    /// Says that something is to follow for a fix from a run that ended.
    public func setFixDue(_ run: RunID) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE run SET isFixDue = TRUE WHERE id = ? AND state = 'ended'", arguments: [run])
        }
    }

    /// Says that what was to follow from a run's end has been done.
    public func fixDone(_ run: RunID) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE run SET isFixDue = FALSE WHERE id = ? AND isFixDue", arguments: [run])
        }
    }

    /// What was done about a failed run. Archive it first.
    public func setFixState(_ state: FixSeries.State, of run: RunID, archivedBytes: Int) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE run SET fixState = ?, archivedBytes = ? WHERE id = ?",
                arguments: [state.rawValue, archivedBytes, run])
        }
    }
}
