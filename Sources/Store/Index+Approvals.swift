public import Results
internal import Foundation
internal import GRDB

/// The result of making a run wait for an approval.
public enum HoldOutcome: Sendable, Equatable {
    /// The run is queued again, and waits for the answer.
    case held
    /// The run is no longer running, or a newer run supersedes it. No approval is needed.
    case overtaken
}

/// The result of an answer to a request for approval.
public enum AnswerOutcome: Sendable, Equatable {
    case recorded(Approval)
    /// Somebody answered before. That answer stays.
    case known(Approval)
}

/// Runs and steps that wait for an approval.
extension Index {
    /// Puts a run that was being prepared back into the queue, where it waits for an approval.
    ///
    /// No step of it ran, so its next start has the same attempt number.
    public func hold(_ id: RunID, for approval: Approval, trust: Trust) async throws -> HoldOutcome {
        try await write { db in
            try db.execute(
                sql: """
                    UPDATE run SET state = 'queued', attempt = attempt - 1, startedAt = NULL, trust = ?
                    WHERE id = ? AND state = 'running' AND supersededBy IS NULL
                    """, arguments: [trust.rawValue, id])
            guard db.changesCount == 1 else { return .overtaken }
            try Self.withdrawOpenApprovals(of: id, db)
            try Self.insert(approval, id, db)
            return .held
        }
    }

    /// Puts a run back that stopped in an orderly way without losing anything. Its next start is a new attempt.
    ///
    /// - Returns: False, without a change, if it is not running or a newer run supersedes it.
    public func putBack(_ id: RunID) async throws -> Bool {
        try await write { db in
            try db.execute(
                sql: "UPDATE run SET state = 'queued' WHERE id = ? AND state = 'running' AND supersededBy IS NULL",
                arguments: [id])
            guard db.changesCount == 1 else { return false }
            try db.execute(sql: "DELETE FROM step WHERE run = ?", arguments: [id])
            return true
        }
    }

    /// Requests approval for a step, once. Returns the request as it is, answered or not.
    public func ask(_ approval: Approval, of id: RunID) async throws -> Approval {
        try await write { db in
            if let known = try Self.approvals(of: id, db).first(where: {
                $0.step == approval.step && $0.binding == approval.binding
            }) {
                return known
            }
            try Self.insert(approval, id, db)
            return approval
        }
    }

    /// Records the answer for a run (`step` is nil) or for one of its steps.
    ///
    /// A run that is rejected ends as cancelled.
    ///
    /// - Throws: `.unknownRun`, or `.wrongState` with the next step to take if nothing waits for this answer.
    public func answer(
        _ id: RunID, step: String?, _ decision: Approval.Decision, by name: String, user: UInt32?, comment: String?
    ) async throws -> AnswerOutcome {
        let now = now()
        return try await write { db in
            guard let state = try Self.state(id, db) else { throw ArchiveError.unknownRun(id) }
            let all = try Self.approvals(of: id, db)
            let asked = all.filter { $0.step == step }
            guard let open = asked.first(where: { $0.decision == nil }) else {
                if let last = asked.last, last.decision == decision { return .known(last) }
                throw Self.nothingWaits(id, step, state, all)
            }
            var answered = open
            (answered.decision, answered.by, answered.user) = (decision, name, user)
            (answered.decidedAt, answered.comment) = (now.wholeMilliseconds, comment)
            try db.execute(
                sql: """
                    UPDATE approval SET decision = ?, decidedBy = ?, decidedUser = ?, decidedAt = ?, comment = ?
                    WHERE run = ? AND step = ? AND binding = ? AND decision IS NULL
                    """,
                arguments: [
                    decision.rawValue, name, user.map { Int64($0) }, now.milliseconds, comment, id, step ?? "",
                    open.binding,
                ])
            // A run that has ended keeps its result. The caller amends its report.
            if step == nil, decision == .rejected, state != .ended {
                let reason = "not approved: rejected by \(name)" + (comment.map { ": \($0)" } ?? "")
                try Self.end(id, .cancelled, reason, at: now, db)
            }
            return .recorded(answered)
        }
    }

    /// Has the runs of a change that wait for an approval before their first step decided about anew: they may need none any
    /// more.
    public func reconsider(_ change: String, of repository: String) async throws -> Bool {
        try await write { db in
            try db.execute(
                sql: """
                    DELETE FROM approval WHERE decision IS NULL AND step = '' AND run IN (
                        SELECT id FROM run WHERE state = 'queued' AND changeName = ?
                            AND repository = (SELECT id FROM repository WHERE name = ?))
                    """, arguments: [change, repository])
            return db.changesCount > 0
        }
    }

    /// The newest approval of any run that applies to `binding`.
    public func approval(holdingFor binding: String) async throws -> Approval? {
        try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT * FROM approval WHERE binding = ? AND decision = 'approved' AND step = ''
                        ORDER BY decidedAt DESC LIMIT 1
                        """), arguments: [binding]
            ).map(Self.approval)
        }
    }

    /// The requests for approval of a run and its steps, with their answers, oldest first.
    public func approvals(of id: RunID) async throws -> [Approval] {
        try await read { db in try Self.approvals(of: id, db) }
    }

    /// SQL: why a run waits before its first step, or ended with a request for approval; null for other runs.
    static let heldFor = """
        (SELECT why FROM approval
        WHERE approval.run = run.id AND approval.step = '' AND approval.decision IS NULL
            AND (run.state = 'queued' OR run.verdict = 'needsApproval'))
        """

    /// Ended runs whose request was answered, but whose verdict does not show it, because the daemon ended in between.
    public func answeredWithoutVerdict() async throws -> [RunID] {
        try await read { db in
            try RunID.fetchAll(
                db,
                sql: """
                    SELECT run.id FROM run JOIN approval ON approval.run = run.id AND approval.step = ''
                    WHERE run.state = 'ended' AND run.verdict = 'needsApproval' AND approval.decision IS NOT NULL
                        AND \(Self.heldFor) IS NULL
                    """)
        }
    }

    static func approvals(of id: RunID, _ db: Database) throws -> [Approval] {
        try Row.fetchAll(db.cachedStatement(sql: "SELECT * FROM approval WHERE run = ? ORDER BY id"), arguments: [id])
            .map(approval)
    }

    /// Removes requests that no longer need an answer.
    static func withdrawOpenApprovals(of id: RunID, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM approval WHERE run = ? AND decision IS NULL")
            .execute(arguments: [id])
    }

    static func insert(_ approval: Approval, _ id: RunID, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO approval (run, step, why, head, definition, binding, askedAt, decision, decidedBy,
                    decidedUser, decidedAt, comment)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            id, approval.step ?? "", approval.why, approval.head, approval.definition, approval.binding,
            approval.askedAt.milliseconds, approval.decision?.rawValue, approval.by, approval.user.map { Int64($0) },
            approval.decidedAt?.milliseconds, approval.comment,
        ])
    }

    private static func approval(_ row: Row) -> Approval {
        let step: String = row["step"]
        return Approval(
            step: step.isEmpty ? nil : step, why: row["why"], head: row["head"], definition: row["definition"],
            binding: row["binding"], askedAt: Date(milliseconds: row["askedAt"]),
            decision: (row["decision"] as String?).flatMap(Approval.Decision.init(rawValue:)), by: row["decidedBy"],
            user: (row["decidedUser"] as Int64?).flatMap(UInt32.init(exactly:)),
            decidedAt: (row["decidedAt"] as Int64?).map(Date.init(milliseconds:)), comment: row["comment"])
    }

    private static func nothingWaits(
        _ id: RunID, _ step: String?, _ state: RunState, _ all: [Approval]
    ) -> ArchiveError {
        let subject = step.map { "Step \($0.shellWord) of run \(id)" } ?? "Run \(id)"
        if let last = all.last(where: { $0.step == step }), let decision = last.decision, let by = last.by {
            let next =
                state == .ended
                ? "`pipectl rerun \(id)` makes a new run of it." : "`pipectl cancel \(id)` ends it."
            return ArchiveError(.wrongState, "\(subject) was already \(decision.rawValue) by \(by). \(next)", run: id)
        }
        if state == .ended {
            return ArchiveError(
                .wrongState,
                "Run \(id) has ended and does not wait for approval. `pipectl show \(id)` shows its verdict.", run: id
            )
        }
        let open = all.filter { $0.decision == nil }.map { "`\(Approval.command(id, step: $0.step))`" }
        let waiting = open.isEmpty ? "No step of it waits." : "These do: \(open.joined(separator: ", "))."
        return ArchiveError(
            .wrongState, "\(subject) does not wait for approval; the run is \(state.rawValue). \(waiting)", run: id)
    }
}
