public import Results
internal import Foundation
internal import GRDB

/// The intents of steps in release runs, and their results.
extension Index {
    /// Records that a step is about to start. It is on disk when this returns.
    ///
    /// - Throws: `.wrongState` if the run is not running.
    public func begin(_ intent: StepIntent, of run: RunID, attempt: Int) async throws {
        try await write { db in
            guard try Self.state(run, db) == .running else {
                throw ArchiveError(.wrongState, "Run \(run) is not running, so none of its steps may start.", run: run)
            }
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO intent (run, runAttempt, step, stepAttempt, command, isIdempotent, startedAt)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                run, attempt, intent.step, intent.attempt, intent.command, intent.isIdempotent,
                intent.startedAt.milliseconds,
            ])
        }
    }

    /// Records how an attempt of a step ended. Does nothing if the attempt has no intent.
    public func end(step: String, _ record: AttemptRecord, of run: RunID, attempt: Int) async throws {
        try await write { db in
            try db.cachedStatement(
                sql: """
                    UPDATE intent SET status = ?, endedAt = ?
                    WHERE run = ? AND runAttempt = ? AND step = ? AND stepAttempt = ?
                    """
            ).execute(arguments: [
                record.status.rawValue, (record.endedAt ?? record.startedAt).milliseconds, run, attempt, step,
                record.number,
            ])
        }
    }

    /// The intents of a run, in the order in which they were recorded.
    public func intents(of run: RunID) async throws -> [RecordedIntent] {
        try await read { db in try Self.intents(of: run, db) }
    }

    static func intents(of run: RunID, _ db: Database) throws -> [RecordedIntent] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT runAttempt, step, stepAttempt, command, isIdempotent, startedAt, endedAt, status
                    FROM intent WHERE run = ? ORDER BY runAttempt, startedAt, step, stepAttempt
                    """),
            arguments: [run]
        ).map { row in
            RecordedIntent(
                StepIntent(
                    step: row["step"], attempt: row["stepAttempt"], command: row["command"],
                    isIdempotent: row["isIdempotent"], startedAt: Date(milliseconds: row["startedAt"])),
                runAttempt: row["runAttempt"], status: (row["status"] as String?).flatMap(StepStatus.init(rawValue:)),
                endedAt: (row["endedAt"] as Int64?).map(Date.init(milliseconds:)))
        }
    }
}
