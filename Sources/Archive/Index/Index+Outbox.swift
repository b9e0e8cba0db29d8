public import Engine
public import Foundation
internal import GRDB

/// Something that somebody is to be told, kept until it was delivered.
public struct OutboxItem: Sendable, Equatable, Identifiable {
    public var id: Int64
    /// What it is about: no two items of a run have the same.
    public var kind: String
    public var run: RunID
    /// What is sent.
    public var body: String
    /// How often the delivery failed.
    public var failures: Int
    /// Not to be tried before this time.
    public var dueAt: Date
}

/// The outbox: what was noted is delivered in order, also after a restart.
extension Index {
    static func createOutbox(_ db: Database) throws {
        try db.create(table: "outbox") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("run", .integer).notNull()
            table.column("kind", .text).notNull()
            // Null once it was delivered, given up, or for what nobody is told.
            table.column("body", .text)
            table.column("failures", .integer).notNull().defaults(to: 0)
            table.column("dueAt", .integer).notNull()
            table.uniqueKey(["run", "kind"])
        }
        try db.execute(sql: "CREATE INDEX outbox_open ON outbox (id) WHERE body IS NOT NULL")
    }

    /// The kind of a row that says that a run's end was looked at, whatever there was to tell.
    private static let looked = "ended"

    /// Begins to note what happens from now on; without effect once it was begun.
    public func openOutbox() async throws {
        let now = now().milliseconds
        try await write { db in
            guard try Int.fetchOne(db, sql: "SELECT count(*) FROM outbox") == 0 else { return }
            let last = try RunID.fetchOne(db, sql: "SELECT coalesce(max(id), 0) FROM run WHERE state = 'ended'") ?? 0
            try db.execute(
                sql: "INSERT INTO outbox (run, kind, dueAt) VALUES (?, 'floor', ?)", arguments: [last, now])
        }
    }

    /// Ended runs that nobody has looked at yet for what there is to tell, oldest first.
    ///
    /// - Parameter since: Only runs that ended then or later: what is older is no news.
    public func untold(since: Date, limit: Int = 100) async throws -> [RunID] {
        try await read { db in
            try RunID.fetchAll(
                db,
                sql: """
                    SELECT id FROM run WHERE state = 'ended' AND endedAt >= ?
                        AND id > (SELECT min(run) FROM outbox WHERE kind = 'floor')
                        AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.run = run.id AND kind = '\(Self.looked)')
                    ORDER BY endedAt, id LIMIT ?
                    """, arguments: [since.milliseconds, limit])
        }
    }

    /// Questions to people that are open and that nobody was told of: the run, the step or nil, and why.
    public func untoldQuestions(limit: Int = 100) async throws -> [(
        run: RunID, kind: String, step: String?, why: String
    )] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT run, step, why, 'approval ' || id AS kind FROM approval WHERE decision IS NULL
                        AND EXISTS (SELECT 1 FROM outbox WHERE kind = 'floor')
                        AND NOT EXISTS (
                            SELECT 1 FROM outbox WHERE outbox.run = approval.run AND kind = 'approval ' || approval.id)
                    ORDER BY id LIMIT ?
                    """, arguments: [limit]
            ).map { row -> (run: RunID, kind: String, step: String?, why: String) in
                let step: String = row["step"]
                return (row["run"], row["kind"], step.isEmpty ? nil : step, row["why"])
            }
        }
    }

    /// Notes what is to be told, in this order, and with `ended` that a run's end was looked at; a second time changes
    /// nothing.
    public func note(_ items: [(kind: String, body: String?)], of run: RunID, ended: Bool) async throws {
        let now = now().milliseconds
        var all = items
        if ended { all.append((kind: Self.looked, body: nil)) }
        try await write { [all] db in
            for (kind, body) in all {
                try db.execute(
                    sql: "INSERT OR IGNORE INTO outbox (run, kind, body, dueAt) VALUES (?, ?, ?, ?)",
                    arguments: [run, kind, body, now])
            }
        }
    }

    /// The oldest item that was not delivered; those after it wait for it.
    public func firstOfOutbox() async throws -> OutboxItem? {
        try await read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM outbox WHERE body IS NOT NULL ORDER BY id LIMIT 1").map { row in
                OutboxItem(
                    id: row["id"], kind: row["kind"], run: row["run"], body: row["body"], failures: row["failures"],
                    dueAt: Date(milliseconds: row["dueAt"]))
            }
        }
    }

    /// Ends an item: it was delivered, or it is given up.
    public func closeOutboxItem(_ id: Int64) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE outbox SET body = NULL WHERE id = ?", arguments: [id])
        }
    }

    /// Notes that a delivery failed, and when it is tried again.
    public func postponeOutboxItem(_ id: Int64, until date: Date) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE outbox SET failures = failures + 1, dueAt = ? WHERE id = ?",
                arguments: [date.milliseconds, id])
        }
    }

    /// The last run of the same workflow on the same branch before this one that said how its tests stand.
    public func verdict(before run: RunSummary) async throws -> Verdict? {
        try await read { db in
            try String.fetchOne(
                db,
                sql: """
                    SELECT verdict FROM run
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND branch = ? AND workflow = ?
                        AND id < ? AND changeName IS NULL AND fixOf IS NULL AND \(Self.isWhole)
                        AND verdict IN ('passed', 'failed', 'flaky')
                        AND coalesce(json_extract(request, '$.upkeep'), '') NOT IN ('bisect', 'learn')
                    ORDER BY id DESC LIMIT 1
                    """, arguments: [run.repository, run.branch, run.workflow, run.id]
            ).flatMap(Verdict.init(rawValue:))
        }
    }
}
