public import Results
internal import Foundation
internal import GRDB

/// What asking for a person's word led to.
public enum HoldOutcome: Sendable, Equatable {
    /// The run waits, as queued, until somebody answers.
    case held
    /// It is not running any more, or a newer run takes its place: there is nothing to ask.
    case overtaken
}

/// What became of an answer.
public enum AnswerOutcome: Sendable, Equatable {
    case recorded(Approval)
    /// Somebody had answered before; what they said stands.
    case known(Approval)
}

/// Runs and steps that wait for a person.
extension Index {
    /// Puts a run that was being prepared back among the queued ones, where it waits for a person.
    ///
    /// It ran nothing, so its next start gets the same number.
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

    /// Puts a run back that stopped in an orderly way before anything was lost; its next start is a new attempt.
    ///
    /// - Returns: False, and nothing changes, if it is not running or a newer run takes its place.
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

    /// Asks about a step, once: returns the question as it stands, answered or not.
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

    /// A person's word on a run (`step` nil) or one of its steps.
    ///
    /// A run that is rejected ends as cancelled. Throws `.unknownRun`, and `.wrongState` with what to do when nothing
    /// waits for that word.
    public func answer(
        _ id: RunID, step: String?, _ decision: Approval.Decision, by name: String, user: UInt32, comment: String?
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
                    decision.rawValue, name, Int64(user), now.milliseconds, comment, id, step ?? "", open.binding,
                ])
            // A run that has ended keeps what it came to; whoever asked amends its report.
            if step == nil, decision == .rejected, state != .ended {
                let reason = "not approved: rejected by \(name)" + (comment.map { ": \($0)" } ?? "")
                try Self.end(id, .cancelled, reason, at: now, db)
            }
            return .recorded(answered)
        }
    }

    /// The newest approval, of any run, that holds for `binding`.
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

    /// What people were asked about a run and its steps, oldest first.
    public func approvals(of id: RunID) async throws -> [Approval] {
        try await read { db in try Self.approvals(of: id, db) }
    }

    /// The open question of a run that waits before its first step, or has ended with one, as SQL: null for others.
    static let heldFor = """
        (SELECT why FROM approval
        WHERE approval.run = run.id AND approval.step = '' AND approval.decision IS NULL
            AND (run.state = 'queued' OR run.verdict = 'needsApproval'))
        """

    /// Gives a run that ended with a question the verdict that the answer has made of it. Archive that first.
    ///
    /// Repeating it changes nothing. Throws `.verdictGiven` where the run did not end with a question.
    public func amend(_ report: Report, archivedBytes: Int) async throws {
        try await write { db in
            let verdict = try String.fetchOne(db, sql: "SELECT verdict FROM run WHERE id = ?", arguments: [report.id])
            guard [Verdict.needsApproval.rawValue, report.verdict.rawValue].contains(verdict) else {
                throw ArchiveError(
                    .verdictGiven,
                    "Run \(report.id) has the verdict \"\(verdict ?? "none")\"; it did not ask for approval.",
                    run: report.id)
            }
            try db.execute(
                sql: "UPDATE run SET verdict = ?, reason = ?, archivedBytes = ? WHERE id = ?",
                arguments: [report.verdict.rawValue, report.reason, archivedBytes, report.id])
        }
    }

    /// Ended runs whose question was answered, and whose verdict does not say so yet: the box went down in between.
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

    /// Removes questions that nobody need answer any more.
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
