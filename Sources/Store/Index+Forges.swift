public import Results
public import Foundation
internal import GRDB

/// Connections to forges, and the outbox of what they are to show: one row for each thing, with its newest state.
extension Index {
    static func createForge(_ db: Database) throws {
        try db.create(table: "forge") { table in
            table.primaryKey("repository", .integer).references("repository", onDelete: .cascade)
            table.column("address", .text).notNull()
            table.column("connectedAt", .integer).notNull()
            // Every run up to this one has ended and was looked at.
            table.column("floor", .integer).notNull()
        }
        try db.create(table: "forgeRun") { table in
            table.primaryKey("run", .integer).references("run", onDelete: .cascade)
            table.column("state", .text).notNull().check(sql: "state IN ('queued', 'running', 'ended')")
        }
        try db.create(table: "forgeItem") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("repository", .integer).notNull().references("forge", onDelete: .cascade)
            table.column("thing", .text).notNull()
            table.column("wanted", .text).notNull()
            table.column("version", .integer).notNull().check(sql: "version >= 1")
            table.column("sentVersion", .integer).notNull().defaults(to: 0)
            table.column("known", .text)
            table.column("failures", .integer).notNull().defaults(to: 0)
            table.column("isUncertain", .boolean).notNull().defaults(to: false)
            table.column("dueAt", .integer).notNull()
            table.column("refusal", .text)
            table.uniqueKey(["repository", "thing"])
            table.check(sql: "sentVersion <= version")
        }
        try db.execute(
            sql: "CREATE INDEX forgeItem_open ON forgeItem (dueAt) WHERE sentVersion < version AND refusal IS NULL")
    }

    // MARK: Connections

    /// Connects a repository, or replaces its connection. What was wanted at another address is dropped; runs that ended
    /// before are not shown.
    public func connectForge(_ repository: String, address: String, location: String) async throws {
        let now = now().milliseconds
        try await write { db in
            let id = try Self.repositoryID(repository, location: location, db)
            let known = try String.fetchOne(db, sql: "SELECT address FROM forge WHERE repository = ?", arguments: [id])
            if known == address { return }
            try db.execute(sql: "DELETE FROM forge WHERE repository = ?", arguments: [id])
            // The new forge has seen none of the runs that go on.
            try db.execute(
                sql: "DELETE FROM forgeRun WHERE run IN (SELECT id FROM run WHERE repository = ?)", arguments: [id])
            try db.execute(
                sql: """
                    INSERT INTO forge (repository, address, connectedAt, floor) VALUES (?, ?, ?, coalesce(
                        (SELECT min(id) - 1 FROM run WHERE repository = ? AND state <> 'ended'),
                        (SELECT max(id) FROM run), 0))
                    """, arguments: [id, address, now, id])
        }
    }

    /// Forgets a connection, with all that was still to be shown there; false if there was none.
    public func disconnectForge(_ repository: String) async throws -> Bool {
        try await write { db in
            try db.execute(
                sql: "DELETE FROM forge WHERE repository = (SELECT id FROM repository WHERE name = ?)",
                arguments: [repository])
            return db.changesCount > 0
        }
    }

    /// All connections to forges.
    public func forges() async throws -> [ForgeRecord] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT name, address, connectedAt FROM forge JOIN repository ON repository.id = forge.repository
                    ORDER BY name
                    """
            ).map {
                ForgeRecord(
                    repository: $0["name"], address: $0["address"], connectedAt: Date(milliseconds: $0["connectedAt"]))
            }
        }
    }

    /// Whether a repository is connected with its forge.
    public func isAtForge(_ repository: String) async throws -> Bool {
        try await shortRead { db in
            try Bool.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT EXISTS (
                            SELECT 1 FROM forge JOIN repository ON repository.id = forge.repository WHERE name = ?)
                        """), arguments: [repository]) ?? false
        }
    }

    // MARK: What runs do

    /// Runs of `repository` that were never looked at for its forge, or are in another state since; oldest first.
    public func forgeNews(of repository: String, limit: Int = 100) async throws -> [ForgeRunNews] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT run.id, run.state FROM run JOIN forge ON forge.repository = run.repository
                    LEFT JOIN forgeRun ON forgeRun.run = run.id
                    WHERE run.repository = (SELECT id FROM repository WHERE name = ?) AND run.id > forge.floor
                        AND (forgeRun.state IS NULL OR forgeRun.state <> run.state)
                    ORDER BY run.id LIMIT ?
                    """, arguments: [repository, limit]
            ).compactMap { row in
                RunState(rawValue: row["state"]).map { ForgeRunNews(run: row["id"], state: $0) }
            }
        }
    }

    /// The newest run of `workflow` at the commit `head` that a person or a push wanted, and that ran as a whole.
    public func newestRun(of workflow: String, at head: String, in repository: String) async throws -> RunID? {
        try await read { db in
            try RunID.fetchOne(
                db,
                sql: """
                    SELECT id FROM run WHERE repository = (SELECT id FROM repository WHERE name = ?)
                        AND head = ? AND workflow = ? AND isUpkeep = 0 AND NOT \(Self.isOfAgent) AND \(Self.isWhole)
                    ORDER BY id DESC LIMIT 1
                    """, arguments: [repository, head, workflow])
        }
    }

    /// Notes what the forge is to show, and that a run was looked at in `state`: one transaction.
    ///
    /// A state that is wanted already changes nothing. A new one is tried at once, whatever became of those before.
    ///
    /// Like all that is noted of the outbox, it survives the end of this process, and a power cut a moment later: nobody
    /// waits for the disk. What a power cut took back is noted again, see ``doubtForgeItems(of:)``.
    ///
    /// - Parameter delay: Seconds until it is tried, unless a newer state comes first.
    public func wantForgeItems(
        _ items: [(thing: String, wanted: String)], of repository: String, run: RunID?, in state: RunState?,
        after delay: Double = 0
    ) async throws {
        let due = now().addingTimeInterval(delay).milliseconds
        try await write(flushed: false) { db in
            guard
                let forge = try Int64.fetchOne(
                    db,
                    sql:
                        "SELECT forge.repository FROM forge JOIN repository ON repository.id = forge.repository WHERE name = ?",
                    arguments: [repository])
            else { return }
            for item in items {
                try db.execute(
                    sql: """
                        INSERT INTO forgeItem (repository, thing, wanted, version, dueAt) VALUES (?, ?, ?, 1, ?)
                        ON CONFLICT (repository, thing) DO UPDATE SET
                            wanted = excluded.wanted, version = version + 1, refusal = NULL,
                            failures = CASE WHEN refusal IS NULL THEN failures ELSE 0 END,
                            dueAt = CASE WHEN failures > 0 AND refusal IS NULL THEN max(dueAt, excluded.dueAt)
                                ELSE excluded.dueAt END
                            WHERE wanted <> excluded.wanted
                        """, arguments: [forge, item.thing, item.wanted, due])
            }
            guard let run, let state else { return }
            try db.execute(
                sql:
                    "INSERT INTO forgeRun (run, state) VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET state = excluded.state",
                arguments: [run, state.rawValue])
            try Self.raiseFloor(forge, db)
        }
    }

    /// Moves the floor over runs that have ended and were looked at, and forgets their marks.
    private static func raiseFloor(_ forge: Int64, _ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE forge SET floor = coalesce((
                    SELECT min(run.id) - 1 FROM run LEFT JOIN forgeRun ON forgeRun.run = run.id
                    WHERE run.repository = forge.repository AND run.id > forge.floor
                        AND (forgeRun.state IS NULL OR forgeRun.state <> 'ended')
                ), (SELECT max(id) FROM run WHERE repository = forge.repository), floor) WHERE repository = ?
                """, arguments: [forge])
        try db.execute(
            sql: """
                DELETE FROM forgeRun WHERE run IN (SELECT run.id FROM run JOIN forge ON forge.repository = run.repository
                    WHERE run.repository = ? AND run.id <= forge.floor)
                """, arguments: [forge])
    }

    // MARK: Delivery

    /// The items of a repository that the forge does not have yet, those that are due first in front.
    public func openForgeItems(of repository: String, limit: Int = 100) async throws -> [ForgeItem] {
        try await forgeItems(
            "sentVersion < version AND refusal IS NULL ORDER BY dueAt, forgeItem.id LIMIT ?", repository, [limit])
    }

    /// What the forge refused for good, newest first.
    public func refusedForgeItems(of repository: String, limit: Int = 100) async throws -> [ForgeItem] {
        try await forgeItems("refusal IS NOT NULL ORDER BY forgeItem.id DESC LIMIT ?", repository, [limit])
    }

    /// The newest wanted states of the things of a repository whose names begin with `prefix`.
    public func wantedForgeItems(of repository: String, beginning prefix: String) async throws -> [String] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT wanted FROM forgeItem JOIN repository ON repository.id = forgeItem.repository
                    WHERE name = ?1 AND substr(thing, 1, length(?2)) = ?2 ORDER BY forgeItem.id
                    """, arguments: [repository, prefix])
        }
    }

    private func forgeItems(_ condition: String, _ repository: String, _ values: [Int]) async throws -> [ForgeItem] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT forgeItem.*, name FROM forgeItem JOIN repository ON repository.id = forgeItem.repository
                    WHERE name = ? AND \(condition)
                    """, arguments: [repository] + StatementArguments(values)
            ).map { row in
                ForgeItem(
                    id: row["id"], repository: row["name"], thing: row["thing"], wanted: row["wanted"],
                    version: row["version"], sentVersion: row["sentVersion"], known: row["known"],
                    failures: row["failures"], isUncertain: row["isUncertain"], dueAt: Date(milliseconds: row["dueAt"]),
                    refusal: row["refusal"])
            }
        }
    }

    /// Notes that each delivery that is open may have taken effect, so that the forge is asked first.
    ///
    /// A process that begins does this: a power cut may have taken back what the one before noted of its deliveries.
    public func doubtForgeItems(of repository: String) async throws {
        try await write(flushed: false) { db in
            try db.execute(
                sql: """
                    UPDATE forgeItem SET isUncertain = 1 WHERE sentVersion < version AND refusal IS NULL
                        AND repository = (SELECT id FROM repository WHERE name = ?)
                    """, arguments: [repository])
        }
    }

    /// Notes that a delivery begins: if nothing is heard of its end, the next one asks the forge first.
    public func beginForgeItem(_ id: Int64) async throws {
        try await write(flushed: false) { db in
            try db.execute(sql: "UPDATE forgeItem SET isUncertain = 1 WHERE id = ?", arguments: [id])
        }
    }

    /// Notes that the forge shows `version` and what it calls the thing.
    public func endForgeItem(_ id: Int64, version: Int, known: String?) async throws {
        try await write(flushed: false) { db in
            try db.execute(
                sql: """
                    UPDATE forgeItem SET sentVersion = max(sentVersion, ?), known = ?, failures = 0, isUncertain = 0
                    WHERE id = ?
                    """, arguments: [version, known, id])
        }
    }

    /// Notes that a delivery failed, and when it is tried again.
    ///
    /// - Parameter isUncertain: Whether it may have taken effect all the same.
    public func postponeForgeItem(_ id: Int64, until date: Date, isUncertain: Bool) async throws {
        try await write(flushed: false) { db in
            try db.execute(
                sql: "UPDATE forgeItem SET failures = failures + 1, dueAt = ?, isUncertain = ? WHERE id = ?",
                arguments: [date.milliseconds, isUncertain, id])
        }
    }

    /// Sets an item aside that the forge will never take; a newer state is tried again.
    ///
    /// - Parameter isUncertain: Whether a part of it may be shown, so that the next delivery asks the forge first.
    public func refuseForgeItem(_ id: Int64, version: Int, why: String, isUncertain: Bool = false) async throws {
        try await write(flushed: false) { db in
            try db.execute(
                sql: "UPDATE forgeItem SET refusal = ?, isUncertain = ? WHERE id = ? AND version = ?",
                arguments: [why, isUncertain, id, version])
        }
    }
}
