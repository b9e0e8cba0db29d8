public import Results
public import Foundation
internal import GRDB

/// A message that is kept until it is delivered.
public struct OutboxItem: Sendable, Equatable, Identifiable {
    /// The row's number, which grows with every message.
    public var id: Int64
    /// The subject and, after an "@", the receiver. It is unique within a run.
    public var kind: String
    /// The receiver; nil: all receivers.
    public var receiver: String? { Self.receiver(of: kind) }
    /// The run that the message is about.
    public var run: RunID
    /// The message's text.
    public var body: String
    /// How many deliveries failed.
    public var failures: Int
    /// The time of the next delivery.
    public var dueAt: Date

    static func receiver(of kind: String) -> String? {
        kind.lastIndex(of: "@").map { String(kind[kind.index(after: $0)...]) }
    }
}

/// The outbox: the messages about a run are delivered to each receiver in order, also after a restart.
extension Index {
    static func createOutbox(_ db: Database) throws {
        try db.create(table: "outbox") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("run", .integer).notNull()
            table.column("kind", .text).notNull()
            // Null if it was delivered or given up, or if there was nothing to send.
            table.column("body", .text)
            table.column("failures", .integer).notNull().defaults(to: 0)
            table.column("dueAt", .integer).notNull()
            table.uniqueKey(["run", "kind"])
        }
        try db.execute(sql: "CREATE INDEX outbox_open ON outbox (id) WHERE body IS NOT NULL")
    }

    /// The kind of a row that says that the messages about a run's end were recorded, even if there were none.
    private static let looked = "ended"

    /// Starts recording messages about events from now on. Does nothing if that was started before.
    ///
    /// It marks each run that has ended, because comparing numbers would not be enough: an older run may end after a
    /// newer one.
    public func openOutbox() async throws {
        let now = now().milliseconds
        try await write { db in
            guard try Int.fetchOne(db, sql: "SELECT count(*) FROM outbox") == 0 else { return }
            try db.execute(sql: "INSERT INTO outbox (run, kind, dueAt) VALUES (0, 'floor', ?)", arguments: [now])
            try db.execute(
                sql: """
                    INSERT INTO outbox (run, kind, dueAt)
                    SELECT id, '\(Self.looked)', ? FROM run WHERE state = 'ended' AND endedAt >= ?
                    """, arguments: [now, now - Self.floorSlack])
        }
    }

    /// Milliseconds before the start in which an ended run still gets messages, unless it was marked: a run's end is
    /// stored a little after it happens.
    private static let floorSlack: Int64 = 86_400_000

    /// Ended runs whose messages are not recorded yet, oldest first.
    ///
    /// - Parameter since: Only runs that ended at that time or later, because older results are not news.
    public func untold(since: Date, limit: Int = 100) async throws -> [RunID] {
        try await read { db in
            try RunID.fetchAll(
                db,
                sql: """
                    SELECT id FROM run WHERE state = 'ended' AND endedAt >= ?
                        AND endedAt >= (SELECT dueAt - \(Self.floorSlack) FROM outbox WHERE kind = 'floor')
                        AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.run = run.id AND kind = '\(Self.looked)')
                    ORDER BY endedAt, id LIMIT ?
                    """, arguments: [since.milliseconds, limit])
        }
    }

    /// Open requests for approval without a message: the run, the step or nil, and the reason.
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

    /// Records messages about a run in this order; with `ended`, also that its end needs no more. Repeating it changes
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

    /// The item to deliver next: the one that is overdue longest, otherwise the one that is due first.
    ///
    /// Only the oldest item of each run and receiver is considered, because the others wait for it.
    ///
    /// - Parameter horizon: An item that is due later than this counts as due now, because the clock was set back.
    public func nextOfOutbox(horizon: Date) async throws -> OutboxItem? {
        try await read { db in
            let open = try Row.fetchAll(
                db, sql: "SELECT id, run, kind, dueAt FROM outbox WHERE body IS NOT NULL ORDER BY id")
            var lanes: Set<[String]> = []
            var best: (id: Int64, dueAt: Int64)?
            for row in open {
                let (id, run, kind): (Int64, RunID, String) = (row["id"], row["run"], row["kind"])
                guard lanes.insert(["\(run)", OutboxItem.receiver(of: kind) ?? ""]).inserted else { continue }
                var dueAt: Int64 = row["dueAt"]
                if dueAt >= horizon.milliseconds { dueAt = 0 }
                if best.map({ dueAt < $0.dueAt }) ?? true { best = (id, dueAt) }
            }
            guard let best else { return nil }
            return try Row.fetchOne(db, sql: "SELECT * FROM outbox WHERE id = ?", arguments: [best.id]).map(Self.item)
        }
    }

    private static func item(_ row: Row) -> OutboxItem {
        OutboxItem(
            id: row["id"], kind: row["kind"], run: row["run"], body: row["body"], failures: row["failures"],
            dueAt: Date(milliseconds: row["dueAt"]))
    }

    /// Removes an item that was delivered or given up.
    public func closeOutboxItem(_ id: Int64) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE outbox SET body = NULL WHERE id = ?", arguments: [id])
        }
    }

    /// Records that a delivery failed, and when it is tried again.
    public func postponeOutboxItem(_ id: Int64, until date: Date) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE outbox SET failures = failures + 1, dueAt = ? WHERE id = ?",
                arguments: [date.milliseconds, id])
        }
    }

    /// The previous run of the same workflow on the same branch whose verdict says something about its tests.
    public func verdict(before run: RunSummary) async throws -> Verdict? {
        try await read { db in
            try String.fetchOne(
                db,
                sql: """
                    SELECT verdict FROM run
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND branch = ? AND workflow = ?
                        AND id < ? AND changeName IS NULL AND NOT \(Self.isOfAgent) AND \(Self.isWhole)
                        AND verdict IN ('passed', 'failed', 'flaky') AND json_extract(request, '$.machine') IS NULL
                        AND coalesce(json_extract(request, '$.upkeep'), '') NOT IN ('bisect', 'learn')
                    ORDER BY id DESC LIMIT 1
                    """, arguments: [run.repository, run.branch, run.workflow, run.id]
            ).flatMap(Verdict.init(rawValue:))
        }
    }
}
