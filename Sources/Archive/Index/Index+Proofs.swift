internal import Engine
internal import Foundation
internal import GRDB
internal import Pipeline

/// Which steps are proved, and which are not believed any more.
extension Index {
    /// For each of `keys` that is proved, the proof; of several, one of merged code, and of those the newest.
    ///
    /// - Parameter scopes: Whose proofs count: ``ProofScope/believed(_:_:)``.
    public func proofs(
        of keys: [String], in repository: String, scopes: [String]
    ) async throws -> [String: StepProof] {
        guard !keys.isEmpty, !scopes.isEmpty else { return [:] }
        let (wanted, counted) = (try ArchiveJSON.compactText(keys), try ArchiveJSON.compactText(scopes))
        return try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT proof.* FROM json_each(?1) AS wanted CROSS JOIN proof CROSS JOIN run
                    WHERE proof.repository = (SELECT id FROM repository WHERE name = ?2)
                        AND proof.key = wanted.value AND proof.scope IN (SELECT value FROM json_each(?3))
                        AND run.id = proof.run AND run.isArchived
                    ORDER BY proof.scope = 'merged', proof.run
                    """, arguments: [wanted, repository, counted])
            return Dictionary(rows.map { ($0["key"], Self.proof($0)) }, uniquingKeysWith: { $1 })
        }
    }

    /// The newest proof of a step of this name, whatever its key.
    public func newestProof(
        of step: String, in workflow: String, of repository: String, scopes: [String]
    ) async throws -> StepProof? {
        let counted = try ArchiveJSON.compactText(scopes)
        return try await read { db in
            try Row.fetchOne(
                db,
                sql: """
                    SELECT * FROM proof
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND workflow = ? AND step = ?
                        AND scope IN (SELECT value FROM json_each(?))
                    ORDER BY run DESC LIMIT 1
                    """, arguments: [repository, workflow, step, counted]
            ).map(Self.proof)
        }
    }

    /// Steps whose proofs are not believed; of one repository, or of all.
    public func distrustedSteps(of repository: String? = nil) async throws -> [DistrustedStep] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT distrust.*, repository.name FROM distrust JOIN repository ON repository.id = distrust.repository
                    WHERE ?1 IS NULL OR repository.name = ?1 ORDER BY repository.name, workflow, step, at
                    """, arguments: [repository]
            ).map { row in
                DistrustedStep(
                    repository: row["name"], workflow: row["workflow"], step: row["step"],
                    definition: row["definition"], run: row["run"], provedBy: row["provedBy"],
                    at: Date(milliseconds: row["at"]))
            }
        }
    }

    /// How many proofs there are of each step.
    public func proofCounts(of repository: String? = nil) async throws -> [ProofCount] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT repository.name, workflow, step, sum(scope = 'merged') AS merged,
                        sum(scope <> 'merged') AS own, max(run) AS newest
                    FROM proof JOIN repository ON repository.id = proof.repository
                    WHERE ?1 IS NULL OR repository.name = ?1
                    GROUP BY repository.name, workflow, step ORDER BY repository.name, workflow, step
                    """, arguments: [repository]
            ).map { row in
                ProofCount(
                    repository: row["name"], workflow: row["workflow"], step: row["step"], merged: row["merged"],
                    own: row["own"], newest: row["newest"])
            }
        }
    }

    /// Believes the proofs of a step again, from now on; the old ones are gone.
    ///
    /// - Returns: How many declarations of a step of this name were not believed before.
    public func trustProofs(of step: String, in repository: String?) async throws -> Int {
        try await write { db in
            try db.execute(
                sql: """
                    DELETE FROM distrust WHERE step = ?1
                        AND (?2 IS NULL OR repository = (SELECT id FROM repository WHERE name = ?2))
                    """, arguments: [step, repository])
            return db.changesCount
        }
    }

    /// In the transaction that ends a run: its steps that passed become proofs, and a proof that was wrong takes all of its
    /// class with it.
    ///
    /// A step that another run proved becomes a proof of merged code when the run is of merged code: what one change had
    /// proved has landed, and holds for all from now on. It still cites the run in which the step was run.
    static func recordProofs(of report: Report, _ db: Database) throws {
        guard report.steps.contains(where: { $0.key != nil || $0.refutes != nil }) else { return }
        let repository = try repositoryID(report.repository, db)
        for step in report.steps {
            guard let refuted = step.refutes else { continue }
            try db.execute(
                sql: "DELETE FROM proof WHERE repository = ? AND definition = ?",
                arguments: [repository, refuted.definition])
            try db.execute(
                sql: """
                    INSERT OR REPLACE INTO distrust (repository, definition, workflow, step, run, provedBy, at)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    repository, refuted.definition, report.workflow, step.name, report.id, refuted.proof.run,
                    report.endedAt.milliseconds,
                ])
        }
        guard let trust = report.trust,
            let scope = ProofScope.own(trust, change: report.change?.name, ref: report.ref)
        else { return }
        let insert = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO proof (repository, key, scope, definition, workflow, step, run, runAttempt)
                SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
                WHERE EXISTS (SELECT 1 FROM run WHERE id = ?7)
                    AND NOT EXISTS (SELECT 1 FROM distrust WHERE repository = ?1 AND definition = ?4)
                """)
        for step in report.steps {
            guard step.status == .passed, let key = step.key else { continue }
            // Where a proof was cited for whom it counts already, nothing is new.
            if step.provedBy != nil && scope != ProofScope.merged { continue }
            let origin = step.provedBy ?? ProofCitation(run: report.id, attempt: report.attempt, step: step.name)
            try insert.execute(arguments: [
                repository, key.value, scope, key.definition, report.workflow, origin.step, origin.run, origin.attempt,
            ])
        }
    }

    private static func proof(_ row: Row) -> StepProof {
        StepProof(
            key: row["key"], definition: row["definition"], scope: row["scope"], workflow: row["workflow"],
            citation: ProofCitation(run: row["run"], attempt: row["runAttempt"], step: row["step"]))
    }
}
