internal import Results
internal import Foundation
internal import GRDB
internal import Pipeline

/// How a request becomes a run, and what happens to older runs of the same subject.
extension Index {
    static func accept(_ request: RunRequest, at now: Date, _ db: Database) throws -> EnqueueOutcome {
        var request = request
        let repository = try repositoryID(request.repository, db)
        while let known = try existing(request, repository, db) {
            guard known.isGivenUp else { return EnqueueOutcome(run: try queuedRun(known.id, db), isNew: false) }
            // The commit is requested again. The run that was given up keeps its verdict, and a new run gets its own.
            request.nonce = request.identity + "after run \(known.id)"
        }
        let id = try insert(request, repository, at: now, db)
        let run = QueuedRun(id: id, request: request, createdAt: now.wholeMilliseconds)
        var outcome = EnqueueOutcome(run: run, isNew: true)
        for older in try displaced(by: id, request, repository, db) {
            let supersession = Supersession(
                run: older.id, by: older.by, reason: supersededReason(older.by, older.by == id ? request : nil))
            if older.isRunning {
                try give(older.id, way: older.by, db)
                outcome.toCancel.append(supersession)
            } else {
                try end(older.id, .superseded, supersession.reason, by: older.by, at: now, db)
                outcome.superseded.append(supersession)
            }
        }
        return outcome
    }

    static func give(_ id: RunID, way newer: RunID, _ db: Database) throws {
        try db.execute(sql: "UPDATE run SET supersededBy = ? WHERE id = ?", arguments: [newer, id])
    }

    private static func existing(
        _ request: RunRequest, _ repository: Int64, _ db: Database
    ) throws -> (id: RunID, isGivenUp: Bool)? {
        let row = try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT id, verdict, supersededBy FROM run
                    WHERE repository = ? AND workflow = ? AND ref = ? AND head = ? AND nonce = ?
                    """),
            arguments: [repository, request.workflow, request.ref, request.head, request.identity])
        guard let row else { return nil }
        let verdict = (row["verdict"] as String?).flatMap(Verdict.init(rawValue:))
        // A run that is being stopped for a newer one is superseded, too.
        let isGoing = verdict == nil && row["supersededBy"] as Int64? != nil
        return (row["id"], verdict == .superseded || verdict == .cancelled || isGoing)
    }

    private static func insert(
        _ request: RunRequest, _ repository: Int64, at now: Date, _ db: Database
    ) throws -> RunID {
        try db.cachedStatement(
            sql: """
                INSERT INTO run (repository, workflow, event, ref, branch, head, nonce, subject, changeName, title,
                    isSerial, isUpkeep, fixOf, task, request, state, createdAt, rerunOf)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)
                """
        ).execute(arguments: [
            repository, request.workflow, request.event.rawValue, request.ref, request.branch, request.head,
            request.identity, request.subject, request.change?.name, request.change?.title,
            request.concurrency != .supersede, request.background != nil, request.fix?.of, request.task?.task,
            try ArchiveJSON.compactText(request), now.milliseconds, request.rerun?.of,
        ])
        return db.lastInsertedRowID
    }

    private struct Displaced {
        var id: RunID
        var isRunning: Bool
        var by: RunID
    }

    /// The runs of the subject that the new run supersedes, oldest first.
    private static func displaced(
        by id: RunID, _ request: RunRequest, _ repository: Int64, _ db: Database
    ) throws -> [Displaced] {
        let rows = try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id, state = 'running' AS isRunning, fixOf FROM run
                    WHERE repository = ? AND workflow = ? AND subject = ? AND state <> 'ended' ORDER BY id
                    """),
            arguments: [repository, request.workflow, request.subject])
        var live = rows.map { Displaced(id: $0["id"], isRunning: $0["isRunning"], by: id) }
        // A fix of an older commit of the change is no longer needed, whatever happens to other runs.
        var outdated: [Displaced] = []
        if request.startsAnew {
            let fixes = Set(rows.filter { $0["fixOf"] as RunID? != nil }.map { $0["id"] as RunID })
            outdated = live.filter { fixes.contains($0.id) }
            live.removeAll { fixes.contains($0.id) }
        }
        let waiting = live.filter { !$0.isRunning }
        switch request.concurrency {
        case .supersede: return outdated + live.filter { $0.id != id }
        case .latestOnly: return outdated + waiting.filter { $0.id != id }
        // The run that was just accepted stays even if no run may wait, because its commit is the newest.
        case .queue(let max): return outdated + Array(waiting.dropLast(Swift.max(max, 1)))
        }
    }

    private static func supersededReason(_ newer: RunID, _ request: RunRequest?) -> String {
        guard let request else { return "Run \(newer) took its place." }
        let subject = request.change.map { "change \($0.name)" } ?? request.branch ?? request.ref
        return "Run \(newer) took its place: \(subject) is at \(request.head.prefix(10)) now."
    }

    /// Gives a run that is not running its verdict, without a report.
    static func end(
        _ id: RunID, _ verdict: Verdict, _ reason: String, by newer: RunID? = nil, at now: Date, _ db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                UPDATE run SET state = 'ended', verdict = ?, reason = ?, endedAt = ?, supersededBy = coalesce(?, supersededBy)
                WHERE id = ?
                """
        ).execute(arguments: [verdict.rawValue, reason, now.milliseconds, newer, id])
        try withdrawOpenApprovals(of: id, db)
        try setTaskDue(ofRun: id, db)
    }

    static func queuedRun(_ id: RunID, _ db: Database) throws -> QueuedRun {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, request, createdAt, attempt FROM run WHERE id = ?"), arguments: [id])
        guard let row else { throw ArchiveError.unknownRun(id) }
        return try queuedRun(row)
    }

    static func queuedRun(_ row: Row) throws -> QueuedRun {
        var run = QueuedRun(
            id: row["id"], request: try ArchiveJSON.decode(RunRequest.self, from: row["request"] as String),
            createdAt: Date(milliseconds: row["createdAt"]), attempt: row["attempt"] + 1)
        run.waitsFor = row["waitsFor"]
        return run
    }
}
