public import Results
internal import Foundation
internal import GRDB
internal import Pipeline

/// Which runs belong to a fix, and which fixes need a next action after a run's end.
extension Index {
    static func createFix(_ db: Database) throws {
        try db.alter(table: "run") { table in
            // The failed run that this run is to fix; null for other runs.
            table.add(column: "fixOf", .integer)
            table.add(column: "fixState", .text)
            // Set with the verdict, and cleared when the next action is done, so that a crash in between loses nothing.
            table.add(column: "isFixDue", .boolean).notNull().defaults(to: false)
        }
        try db.execute(
            sql: """
                CREATE INDEX run_fixOf ON run (fixOf, id) WHERE fixOf IS NOT NULL;
                CREATE INDEX run_fixDue ON run (id) WHERE isFixDue;
                """)
    }

    /// The runs that are to fix this one, oldest first.
    public func fixRuns(of run: RunID) async throws -> [IndexedRun] {
        let ids = try await read { db in
            try RunID.fetchAll(
                db, sql: "SELECT id FROM run WHERE fixOf = ? AND fixOf IS NOT NULL ORDER BY id", arguments: [run])
        }
        var runs: [IndexedRun] = []
        for id in ids { if let run = try await self.run(id) { runs.append(run) } }
        return runs
    }

    /// Whether there was an attempt, which was not cancelled, to fix this head of a change.
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

    /// Ended runs after which a fix needs a next action, oldest first.
    public func dueFixes() async throws -> [RunID] {
        try await read { db in try RunID.fetchAll(db, sql: "SELECT id FROM run WHERE isFixDue ORDER BY id") }
    }

    /// Records that a fix needs a next action after a run that ended.
    public func setFixDue(_ run: RunID) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE run SET isFixDue = TRUE WHERE id = ? AND state = 'ended'", arguments: [run])
        }
    }

    /// Records that the next action after a run's end was done.
    public func fixDone(_ run: RunID) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE run SET isFixDue = FALSE WHERE id = ? AND isFixDue", arguments: [run])
        }
    }
}
