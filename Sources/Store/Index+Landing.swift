internal import Foundation
internal import GRDB
public import Results

/// Merge queues: the state of each, and the changes that left them.
extension Index {
    static func createLanding(_ db: Database) throws {
        try db.create(table: "mergeQueue") { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("branch", .text).notNull()
            table.column("state", .text).notNull()
            table.primaryKey(["repository", "branch"])
        }
        try db.create(table: "landing") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("branch", .text).notNull()
            table.column("change", .text).notNull()
            table.column("head", .text).notNull()
            table.column("outcome", .text).notNull()
                .check(sql: "outcome IN ('landed', 'landedElsewhere', 'conflict', 'failed', 'withdrawn')")
            table.column("reason", .text).notNull()
            table.column("commitID", .text)
            table.column("tip", .text)
            table.column("method", .text)
            table.column("runs", .text).notNull()
            table.column("askedBy", .text).notNull()
            table.column("askedAt", .integer).notNull()
            table.column("endedAt", .integer).notNull()
            table.check(sql: "(outcome = 'landed') = (tip IS NOT NULL)")
        }
        try db.execute(
            sql: """
                CREATE INDEX landing_branch ON landing (repository, branch, id);
                CREATE UNIQUE INDEX landing_once ON landing (repository, branch, change, head) WHERE outcome = 'landed';
                """)
    }

    /// The merge queues of a repository, or of all, by repository and branch.
    public func mergeQueues(of repository: String? = nil) async throws -> [MergeQueueRecord] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT name, branch, state FROM mergeQueue JOIN repository ON repository.id = mergeQueue.repository
                    WHERE name = ? OR ? IS NULL ORDER BY name, branch
                    """, arguments: [repository, repository]
            ).map { MergeQueueRecord(repository: $0["name"], branch: $0["branch"], state: $0["state"]) }
        }
    }

    /// Changes the state of a queue and notes who left it, in one transaction.
    ///
    /// - Parameter change: Gets the state, nil where there is no queue yet, and returns the new one (nil: no change) with those who left.
    ///   What it throws is thrown, and nothing is stored.
    public func changeMergeQueue<Result: Sendable>(
        of repository: String, branch: String,
        _ change: @Sendable @escaping (String?) throws -> MergeQueueUpdate<Result>
    ) async throws -> Result {
        try await write { db in
            let id = try Self.repositoryID(repository, db)
            let old = try String.fetchOne(
                db, sql: "SELECT state FROM mergeQueue WHERE repository = ? AND branch = ?", arguments: [id, branch])
            let made = try change(old)
            if let state = made.state, state != old {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO mergeQueue (repository, branch, state) VALUES (?, ?, ?)",
                    arguments: [id, branch, state])
            }
            for record in made.ended { try Self.insert(record, id, branch, db) }
            return made.result
        }
    }

    private static func insert(_ record: LandingRecord, _ repository: Int64, _ branch: String, _ db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO landing (repository, branch, change, head, outcome, reason, commitID, tip, method, runs,
                    askedBy, askedAt, endedAt, isUntested)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                repository, branch, record.change, record.head, record.outcome.rawValue, record.reason, record.commit,
                record.tip, record.method, try ArchiveJSON.compactText(record.runs), record.askedBy,
                record.askedAt.milliseconds, record.endedAt.milliseconds, record.isUntested,
            ])
    }

    /// Changes that left the queue of a branch, the newest first.
    public func landings(of repository: String, branch: String, limit: Int = 100) async throws -> [LandingRecord] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT landing.* FROM landing JOIN repository ON repository.id = landing.repository
                    WHERE name = ? AND branch = ? ORDER BY landing.id DESC LIMIT ?
                    """, arguments: [repository, branch, limit]
            ).compactMap(Self.landing)
        }
    }

    private static func landing(_ row: Row) throws -> LandingRecord? {
        // The schema allows only known outcomes.
        guard let outcome = LandingRecord.Outcome(rawValue: row["outcome"]) else { return nil }
        return LandingRecord(
            change: row["change"], head: row["head"], outcome: outcome, reason: row["reason"], commit: row["commitID"],
            tip: row["tip"], method: row["method"],
            runs: try ArchiveJSON.decode([String: Int64].self, from: row["runs"] as String), askedBy: row["askedBy"],
            askedAt: Date(milliseconds: row["askedAt"]), endedAt: Date(milliseconds: row["endedAt"]),
            isUntested: row["isUntested"])
    }
}
