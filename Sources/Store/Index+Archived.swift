package import Results
package import Foundation
internal import GRDB
internal import Pipeline

/// What the archive needs of the store.
extension Index {
    /// A run with the facts that the archive has.
    package struct Restored: Sendable {
        /// The report, as the archive has it.
        package var report: Report
        var request: RunRequest
        /// All test results of the run.
        package var tests: [TestResult]
        /// The size of the run in the archive, in bytes before compression.
        package var bytes: Int

        package init(
            report: Report, request: RunRequest, tests: [TestResult], bytes: Int
        ) {
            self.report = report
            self.request = request
            self.tests = tests
            self.bytes = bytes
        }
    }

    /// The facts about an ended run that retention depends on.
    package struct RetentionRow: Sendable, Equatable {
        /// The run's number.
        package var id: RunID
        /// The watched repository's name.
        package var repository: String
        /// The workflow's name.
        package var workflow: String
        /// The branch, or the target of a change; nil for a tag.
        package var branch: String?
        /// Whether ``branch`` is the repository's target branch. True also if that is unknown.
        package var isOfTarget = true
        /// The change's name; nil unless the run tested one.
        package var change: String?
        /// Whether the last observation saw the change, and it was neither landed nor closed.
        package var isChangeOpen = false
        /// Whether it has a request for approval without an answer.
        package var isHeld = false
        /// Whether its verdict is that of its subject: it is not a partial run, a fix, or a test of an older commit.
        package var isVerdict = true
        /// The run that it tries to fix.
        package var fixOf: RunID?
        /// Whether it is part of a task that has not ended.
        package var isOfOpenTask = false
        /// When the run ended.
        package var endedAt: Date
        /// The size of its report, logs and results in bytes before compression.
        package var bytes: Int
        /// The digests of its artifacts.
        package var artifacts: [String] = []
    }

    /// Adds runs that only the archive has, with their numbers.
    ///
    /// - Returns: How many were added, and which runs the store refuses, with the reason.
    package func restore(_ runs: [Restored]) async throws -> (added: Int, refused: [(id: RunID, why: String)]) {
        guard !runs.isEmpty else { return (0, []) }
        return try await write { db in
            var (added, refused): (Int, [(id: RunID, why: String)]) = (0, [])
            for run in runs {
                do {
                    try db.inSavepoint {
                        if try Self.restore(run, db) { added += 1 }
                        return .commit
                    }
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                    // The schema checks a report's values. One bad report must not keep out the others.
                    refused.append((run.report.id, error.message ?? "the index refuses it"))
                }
            }
            return (added, refused)
        }
    }

    /// The runs that are archived according to the store, ascending.
    package func archivedRuns() async throws -> [RunSummary] {
        try await read { db in
            try Self.summaries(Row.fetchAll(db, sql: "\(Self.selectRun) WHERE run.isArchived ORDER BY run.id"), db)
        }
    }

    /// The numbers of ``archivedRuns()``.
    package func archivedIDs() async throws -> Set<RunID> {
        try await read { db in try RunID.fetchSet(db, sql: "SELECT id FROM run WHERE isArchived") }
    }

    /// Runs that have not ended, or whose report is not in the archive. Runs that never started are included, because
    /// after restoring a backup they may have run since.
    package func unarchivedRuns() async throws -> [RunID] {
        try await read { db in
            try RunID.fetchAll(
                db,
                sql: """
                    SELECT id FROM run WHERE state IN ('queued', 'running') AND state <> 'ended'
                    UNION ALL SELECT id FROM run WHERE state = 'ended' AND NOT isArchived ORDER BY id
                    """)
        }
    }

    /// All ended runs, with the facts that retention depends on.
    package func retentionRows() async throws -> [RetentionRow] {
        try await read { db in
            var rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT run.id, repository.name AS repositoryName, workflow, branch, changeName, endedAt,
                        archivedBytes, fixOf, \(Self.heldFor) IS NOT NULL AS isHeld,
                        EXISTS (SELECT 1 FROM task WHERE task.id = run.task AND task.dueAt IS NOT NULL) AS isOfOpenTask,
                        repository.target IS NULL OR branch = repository.target AS isOfTarget,
                        change.state IN ('open', 'stale', 'conflict') AS isChangeOpen,
                        NOT \(Self.isOfAgent) AND run.verdict <> 'superseded' AND \(Self.isWhole)
                            AND coalesce(json_extract(run.request, '$.upkeep'), '') NOT IN ('bisect', 'learn')
                            AS isVerdict
                    FROM run JOIN repository ON repository.id = run.repository
                    LEFT JOIN change ON change.repository = run.repository AND change.name = run.changeName
                    WHERE run.isArchived ORDER BY run.id
                    """
            ).map { row in
                RetentionRow(
                    id: row["id"], repository: row["repositoryName"], workflow: row["workflow"],
                    branch: row["branch"], isOfTarget: row["isOfTarget"] as Bool? ?? false, change: row["changeName"],
                    isChangeOpen: row["isChangeOpen"] as Bool? ?? false, isHeld: row["isHeld"],
                    isVerdict: row["isVerdict"], fixOf: row["fixOf"], isOfOpenTask: row["isOfOpenTask"],
                    endedAt: Date(milliseconds: row["endedAt"]),
                    bytes: row["archivedBytes"])
            }
            let position = Dictionary(uniqueKeysWithValues: rows.enumerated().map { ($1.id, $0) })
            let artifacts = try Row.fetchCursor(
                db, sql: "SELECT DISTINCT run, sha256 FROM artifact ORDER BY run, sha256")
            while let artifact = try artifacts.next() {
                if let position = position[artifact["run"]] { rows[position].artifacts.append(artifact["sha256"]) }
            }
            return rows
        }
    }

    /// Reserves all numbers up to this one, so that no new run gets the number of an archived one.
    package func reserve(through id: RunID) async throws {
        try await write { db in
            try db.execute(sql: "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'run'", arguments: [id])
            guard db.changesCount == 0 else { return }
            try db.execute(sql: "INSERT INTO sqlite_sequence (name, seq) VALUES ('run', ?)", arguments: [id])
        }
    }

    /// Removes ended runs with their steps, tests and artifacts.
    package func remove(_ ids: [RunID]) async throws {
        // In small transactions, so that other writes do not wait long.
        for start in stride(from: 0, to: ids.count, by: 100) {
            let piece = ids[start..<min(start + 100, ids.count)].map(String.init).joined(separator: ",")
            try await write { db in
                try db.execute(sql: "DELETE FROM run WHERE state = 'ended' AND id IN (\(piece))")
            }
        }
    }

    private static func restore(_ run: Restored, _ db: Database) throws -> Bool {
        let (report, request) = (run.report, run.request)
        guard try state(report.id, db) == nil else { return false }
        let repository = try repositoryID(report.repository, db)
        try db.cachedStatement(
            sql: """
                INSERT INTO run (id, repository, workflow, event, ref, branch, head, nonce, subject, changeName,
                    title, isSerial, fixOf, task, request, state, verdict, createdAt, endedAt, rerunOf)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, FALSE, ?, ?, ?, 'ended', ?, ?, ?, ?)
                """
        ).execute(arguments: [
            report.id, repository, report.workflow, report.event.rawValue, report.ref, report.branch, report.head,
            try freeNonce(request, repository, report.id, db), request.subject, report.change?.name,
            report.change?.title, request.fix?.of, request.task?.task, try ArchiveJSON.compactText(request),
            report.verdict.rawValue,
            report.createdAt.milliseconds, report.endedAt.milliseconds, report.rerunOf,
        ])
        try raiseProofFloor(before: report, repository: repository, db)
        try record(report, run.tests, run.bytes, db)
        for approval in report.approvals ?? [] { try insert(approval, report.id, db) }
        return true
    }

    /// The request's nonce, unless a newer run has it, which was accepted after the store was lost.
    private static func freeNonce(
        _ request: RunRequest, _ repository: Int64, _ id: RunID, _ db: Database
    ) throws -> String {
        let isTaken = try Bool.fetchOne(
            db,
            sql: """
                SELECT EXISTS (SELECT 1 FROM run
                WHERE repository = ? AND workflow = ? AND ref = ? AND head = ? AND nonce = ?)
                """,
            arguments: [repository, request.workflow, request.ref, request.head, request.identity])
        return isTaken == true ? request.identity + "run \(id)" : request.identity
    }
}
