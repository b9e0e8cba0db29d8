public import Results
internal import Foundation
internal import GRDB

/// The queue: which run starts next, and what a restart does with runs that were running.
extension Index {
    /// All queued runs in the order in which they would start: the repositories in turn, each with its oldest run
    /// first.
    public func queued() async throws -> [QueuedRun] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT run.id, run.request, run.createdAt, run.attempt, \(Self.blocker) AS waitsFor
                        FROM run JOIN repository ON repository.id = run.repository
                        WHERE run.state = 'queued' AND \(Self.heldFor) IS NULL
                        ORDER BY row_number() OVER (PARTITION BY run.repository ORDER BY run.id), repository.turn, run.id
                        """)
            ).map { try Self.queuedRun($0) }
        }
    }

    /// Takes the next run that may start and marks it as running; nil if there is none.
    ///
    /// The repository whose last start is longest ago comes first, with its oldest run. A run whose concurrency is
    /// `.queue` or `.latestOnly` waits until the older runs of its subject have ended.
    ///
    /// After a power cut the start may be lost, and the run is queued again, which is also what a restart does. Steps
    /// that must not run twice have an intent, which is on disk before they start.
    ///
    /// - Parameters:
    ///   - excluding: Runs that the caller can't start now, because a resource is missing.
    ///   - isIdle: Whether no run is running, apart from those that wait for approvals. Only then, and if no other run
    ///     is queued, background runs may start.
    ///   - prefersMissed: Whether background runs may come first that queued runs of changes need. Searching for them
    ///     takes time in proportion to the queue.
    public func claimNext(
        excluding: Set<RunID> = [], isIdle: Bool = true, prefersMissed: Bool = false
    ) async throws -> QueuedRun? {
        let at = now().milliseconds
        return try await write(flushed: false) { db in
            let excluded = "[\(excluding.map(String.init).joined(separator: ","))]"
            let found =
                try (prefersMissed ? Self.nextMissed(excluding: excluded, db) : nil)
                ?? Self.next(excluding: excluded, isUpkeep: false, db)
            guard let id = try found ?? (isIdle ? Self.next(excluding: excluded, isUpkeep: true, db) : nil) else {
                return nil
            }
            var run = try Self.queuedRun(id, db)
            run.attempt = try Self.start(id, at: at, db)
            return run
        }
    }

    /// The background run that makes the snapshot for queued runs of changes. All of them finish sooner if it comes
    /// first.
    private static func nextMissed(excluding: String, _ db: Database) throws -> RunID? {
        try RunID.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT run.id FROM run
                    WHERE run.state = 'queued' AND run.isUpkeep AND json_extract(run.request, '$.isMissed')
                        AND run.id NOT IN (SELECT value FROM json_each(?)) AND \(Self.blocker) IS NULL
                        AND EXISTS (
                            SELECT 1 FROM run AS other
                            WHERE other.state = 'queued' AND other.repository = run.repository
                                AND other.workflow = run.workflow AND other.branch = run.branch
                                AND other.changeName IS NOT NULL)
                    ORDER BY run.id LIMIT 1
                    """), arguments: [excluding])
    }

    /// Marks a queued background run as one that runs of changes need. Does nothing for other runs.
    public func setMissed(_ id: RunID) async throws {
        try await write { db in
            try db.execute(
                sql: """
                    UPDATE run SET request = json_set(request, '$.isMissed', json('true'))
                    WHERE id = ? AND state = 'queued' AND isUpkeep
                    """, arguments: [id])
        }
    }

    /// Runs that are to be stopped: they wait for an answer, and a newer commit of their subject waits for them, of which
    /// only the latest counts. That is recorded, so that a restart before does not start them again.
    ///
    /// - Parameter parked: Runs that do nothing but wait for answers, as far as the caller knows.
    /// - Returns: By these runs, the newer ones.
    public func giveWay(_ parked: Set<RunID>) async throws -> [RunID: RunID] {
        try await write { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT run.id, max(newer.id) AS newer FROM run JOIN run AS newer ON newer.repository = run.repository
                        AND newer.workflow = run.workflow AND newer.subject = run.subject AND newer.id > run.id
                    WHERE run.id IN (SELECT value FROM json_each(?)) AND run.state = 'running'
                        AND EXISTS (SELECT 1 FROM approval WHERE approval.run = run.id AND decision IS NULL)
                        AND NOT EXISTS (SELECT 1 FROM approval WHERE approval.run = newer.id AND decision IS NULL)
                        AND newer.state = 'queued' AND newer.rerunOf IS NULL AND newer.head <> run.head
                        AND json_extract(newer.request, '$.onlySteps') IS NULL
                        AND json_extract(newer.request, '$.concurrency.latestOnly') IS NOT NULL
                    GROUP BY run.id
                    """, arguments: ["[\(parked.map(String.init).joined(separator: ","))]"])
            for row in rows { try Self.give(row["id"], way: row["newer"], db) }
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"], $0["newer"]) })
        }
    }

    /// - Parameter excluding: A JSON array.
    private static func next(excluding: String, isUpkeep: Bool, _ db: Database) throws -> RunID? {
        // Uses `run_queued`: one short search for each repository, however long the queue is.
        try RunID.fetchOne(
            db.cachedStatement(
                sql: """
                    WITH first AS MATERIALIZED (
                        SELECT turn, (
                            SELECT id FROM run
                            WHERE run.repository = repository.id AND state = 'queued'
                                AND id NOT IN (SELECT value FROM json_each(?))
                                AND isUpkeep = \(isUpkeep ? "TRUE" : "FALSE")
                                AND \(Self.blocker) IS NULL AND \(Self.heldFor) IS NULL
                            ORDER BY id LIMIT 1
                        ) AS next FROM repository
                    )
                    SELECT next FROM first WHERE next IS NOT NULL ORDER BY turn, next LIMIT 1
                    """), arguments: [excluding])
    }

    /// Marks a queued run as running and returns its attempt number.
    ///
    /// - Throws: `.wrongState` if it is not queued.
    @discardableResult
    public func markRunning(_ id: RunID) async throws -> Int {
        let at = now().milliseconds
        return try await write { db in try Self.start(id, at: at, db) }
    }

    /// Ends a queued run as cancelled. Returns false, without a change, if it is running or has ended.
    public func cancelQueued(_ id: RunID, reason: String) async throws -> Bool {
        let now = now()
        return try await write { db in
            guard let state = try Self.state(id, db) else { throw ArchiveError.unknownRun(id) }
            guard state == .queued else { return false }
            try Self.end(id, .cancelled, reason, at: now, db)
            return true
        }
    }

    /// Called when the daemon starts, before any run: decides about each run that was running when the daemon ended.
    ///
    /// ``Recovery`` has the rule: a run may be queued again, above all one of `goingOn`, whose steps may still run on
    /// another machine; or it ends as superseded, or for a person to check, if a step may have acted on the outside
    /// world. Call ``ArchiveStore/settle(_:)`` before: a run whose report is in the archive already has its verdict.
    public func recoverInterrupted(goingOn: Set<RunID> = []) async throws -> [RecoveredRun] {
        let now = now()
        return try await write { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, request, attempt, supersededBy FROM run
                    WHERE state = 'running' AND state <> 'ended' ORDER BY id
                    """)
            return try rows.map { row in
                let request = try ArchiveJSON.decode(RunRequest.self, from: row["request"] as String)
                let outcome = Recovery.outcome(
                    of: row["id"], request, attempt: row["attempt"], supersededBy: row["supersededBy"],
                    intents: try Self.intents(of: row["id"], db), mayGoOn: goingOn.contains(row["id"]))
                switch outcome {
                case .ended(let verdict, let reason): try Self.end(row["id"], verdict, reason, at: now, db)
                case .queued:
                    try db.execute(sql: "UPDATE run SET state = 'queued' WHERE id = ?", arguments: [row["id"] as RunID])
                    try db.execute(sql: "DELETE FROM step WHERE run = ?", arguments: [row["id"] as RunID])
                }
                return RecoveredRun(id: row["id"], request: request, outcome: outcome)
            }
        }
    }

    /// The number of the oldest run of the same subject for which a run with serial concurrency must wait.
    private static let blocker = """
        (CASE WHEN run.isSerial THEN (
            SELECT older.id FROM run AS older
            WHERE older.repository = run.repository AND older.workflow = run.workflow AND older.subject = run.subject
                AND older.state <> 'ended' AND older.id <> run.id AND (older.id < run.id OR older.state = 'running')
            ORDER BY older.id LIMIT 1
        ) END)
        """

    private static func start(_ id: RunID, at: Int64, _ db: Database) throws -> Int {
        let attempt = try Int.fetchOne(
            db.cachedStatement(
                sql: """
                    UPDATE run SET state = 'running', attempt = attempt + 1, startedAt = ?
                    WHERE id = ? AND state = 'queued' RETURNING attempt
                    """),
            arguments: [at, id])
        guard let attempt else {
            guard let state = try state(id, db) else { throw ArchiveError.unknownRun(id) }
            let next = state == .ended ? "`pipectl rerun \(id)` makes a new run of it." : "`pipectl status` shows it."
            throw ArchiveError(.wrongState, "Run \(id) can't be started: it is \(state.rawValue). \(next)", run: id)
        }
        try db.cachedStatement(
            sql: """
                UPDATE repository SET turn = (SELECT max(turn) + 1 FROM repository)
                WHERE id = (SELECT repository FROM run WHERE id = ?)
                """
        ).execute(arguments: [id])
        return attempt
    }

    static func state(_ id: RunID, _ db: Database) throws -> RunState? {
        try String.fetchOne(db.cachedStatement(sql: "SELECT state FROM run WHERE id = ?"), arguments: [id])
            .flatMap(RunState.init(rawValue:))
    }
}
