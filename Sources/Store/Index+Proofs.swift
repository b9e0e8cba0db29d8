public import Results
public import Foundation
internal import GRDB
internal import Pipeline

/// The proofs of steps, and the steps whose proofs are not used for some time.
extension Index {
    /// The proof for each of `keys` that has one. Proofs of merged code take precedence, then the newest.
    ///
    /// - Parameters:
    ///   - scopes: The scopes whose proofs may be used: ``ProofScope/believed(_:_:)``.
    ///   - fromNothing: Whether only proofs of runs with a fresh workspace may be used.
    public func proofs(
        of keys: [String], in repository: String, scopes: [String], fromNothing: Bool = false
    ) async throws -> [String: StepProof] {
        guard !keys.isEmpty, !scopes.isEmpty else { return [:] }
        let (wanted, counted) = (try ArchiveJSON.compactText(keys), try ArchiveJSON.compactText(scopes))
        return try await shortRead { db in
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT proof.* FROM json_each(?1) AS wanted CROSS JOIN proof CROSS JOIN run
                        WHERE proof.repository = (SELECT id FROM repository WHERE name = ?2)
                            AND proof.key = wanted.value AND proof.scope IN (SELECT value FROM json_each(?3))
                            AND run.id = proof.run AND run.isArchived AND NOT (?4 AND proof.warm)
                        ORDER BY proof.scope = 'merged', proof.run
                        """), arguments: [wanted, repository, counted, fromNothing])
            return Dictionary(rows.map { ($0["key"], Self.proof($0)) }, uniquingKeysWith: { $1 })
        }
    }

    /// The newest proof of a step with this name, with any key.
    public func newestProof(
        of step: String, in workflow: String, of repository: String, scopes: [String]
    ) async throws -> StepProof? {
        let counted = try ArchiveJSON.compactText(scopes)
        return try await read { db in
            try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        SELECT * FROM proof
                        WHERE repository = (SELECT id FROM repository WHERE name = ?) AND workflow = ? AND step = ?
                            AND scope IN (SELECT value FROM json_each(?))
                        ORDER BY run DESC LIMIT 1
                        """), arguments: [repository, workflow, step, counted]
            ).map(Self.proof)
        }
    }

    /// How long, in milliseconds, a step is not proved after a proof was wrong once, which may have been chance. After
    /// a second wrong proof, it is not proved any more.
    private static let distrustLasts: Int64 = 7 * 86_400_000

    /// The steps whose proofs are not used; of one repository, or of all.
    ///
    /// - Parameter date: Nil: also steps for which that time is over.
    public func distrustedSteps(of repository: String? = nil, at date: Date? = nil) async throws -> [DistrustedStep] {
        try await shortRead { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT distrust.*, repository.name FROM distrust JOIN repository ON repository.id = distrust.repository
                        WHERE (?1 IS NULL OR repository.name = ?1) AND (?2 IS NULL OR times > 1 OR at > ?2)
                        ORDER BY repository.name, workflow, step, at
                        """), arguments: [repository, date.map { $0.milliseconds - Self.distrustLasts }]
            ).map { row in
                DistrustedStep(
                    repository: row["name"], workflow: row["workflow"], step: row["step"],
                    definition: row["definition"], run: row["run"], provedBy: row["provedBy"],
                    at: Date(milliseconds: row["at"]))
            }
        }
    }

    /// The number of proofs of each step.
    public func proofCounts(of repository: String? = nil) async throws -> [ProofCount] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT repository.name, workflow, step,
                        count(DISTINCT CASE WHEN scope = 'merged' THEN key END) AS merged,
                        count(DISTINCT CASE WHEN scope <> 'merged' THEN scope || key END) AS own, max(run) AS newest
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

    /// Drops the proofs of an earlier change with the same name, when a new change with this name appears.
    static func dropProofs(ofNameBefore change: ChangeRecord, repository: Int64, _ db: Database) throws {
        if change.state == .landed || change.state == .closed { return }
        let was = try String.fetchOne(
            db.cachedStatement(sql: "SELECT state FROM change WHERE repository = ? AND name = ?"),
            arguments: [repository, change.name]
        ).flatMap(ChangeRecord.State.init(rawValue:))
        guard was == .landed || was == .closed else { return }
        let scope = ProofScope.change(change.name)
        try deleteProofs(of: scope, repository: repository, db)
        // A run of that change may still be running.
        try raiseProofFloor(of: scope, to: newestRun(db), repository: repository, db)
    }

    /// Drops the proofs of a branch or tag that was deleted, because a new one with its name may have another author.
    static func dropProofs(ofRef ref: String, repository: Int64, _ db: Database) throws {
        let scope = ProofScope.ref(ref)
        try deleteProofs(of: scope, repository: repository, db)
        // Most deleted refs had no run and need no row. A run that is running ends later, and one that has ended may be
        // repeated.
        let branch = ref.hasPrefix("refs/heads/") ? String(ref.dropFirst("refs/heads/".count)) : nil
        let hadRun = try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM run WHERE repository = ? AND branch IS ? AND ref = ?)"),
            arguments: [repository, branch, ref])
        guard hadRun == true else { return }
        try raiseProofFloor(of: scope, to: newestRun(db), repository: repository, db)
    }

    private static func deleteProofs(of scope: String, repository: Int64, _ db: Database) throws {
        // The scope's name as the store has it.
        try db.cachedStatement(sql: "DELETE FROM proof WHERE repository = ? AND scope = ? AND scope <> 'merged'")
            .execute(arguments: [repository, scope])
    }

    private static func newestRun(_ db: Database) throws -> RunID {
        try RunID.fetchOne(db.cachedStatement(sql: "SELECT max(id) FROM run")) ?? 0
    }

    /// Called before a run that only the archive has is restored. It is unknown whether its change or branch has ended
    /// and another one has its name, so its proofs stay only if it was merged.
    static func raiseProofFloor(before report: Report, repository: Int64, _ db: Database) throws {
        guard let trust = report.trust, trust != .merged,
            let scope = ProofScope.own(trust, change: report.change?.name, ref: report.ref)
        else { return }
        try raiseProofFloor(of: scope, to: report.id, repository: repository, db)
    }

    private static func raiseProofFloor(
        of scope: String, to run: RunID, repository: Int64, _ db: Database
    ) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO proofFloor (repository, scope, run) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET run = max(run, excluded.run)
                """
        ).execute(arguments: [repository, scope, run])
    }

    /// The first of the runs that this run repeats, directly or indirectly.
    private static func firstAttempt(of report: Report, _ db: Database) throws -> RunID {
        guard let earlier = report.rerunOf else { return report.id }
        return try RunID.fetchOne(
            db.cachedStatement(
                sql: """
                    WITH RECURSIVE earlier(id) AS (
                        SELECT ?1 UNION SELECT run.rerunOf FROM earlier JOIN run ON run.id = earlier.id
                        WHERE run.rerunOf IS NOT NULL
                    )
                    SELECT min(id) FROM earlier
                    """), arguments: [earlier]) ?? earlier
    }

    /// Allows the proofs of a step again, from now on. Older proofs were dropped.
    ///
    /// - Returns: How many declarations of a step with this name were not proved before.
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

    /// Records the proofs of a run that ends, in the same transaction: its passed steps become proofs, and a wrong
    /// proof drops all proofs of its class.
    ///
    /// When the run is of merged code, a step that another run proved becomes a proof of merged code: the change that
    /// proved it has landed, so every run may use it. The proof still names the run in which the step ran.
    static func recordProofs(of report: Report, _ db: Database) throws {
        let isRefutedFromNothing =
            report.verdict != .passed && report.trust == .merged
            && report.findings.contains { $0.rule == Report.warmDiffers }
        guard isRefutedFromNothing || report.steps.contains(where: { $0.key != nil || $0.refutes != nil }) else {
            return
        }
        let repository = try repositoryID(report.repository, db)
        if isRefutedFromNothing {
            try db.execute(
                sql: "DELETE FROM proof WHERE repository = ? AND workflow = ? AND warm",
                arguments: [repository, report.workflow])
        }
        for step in report.steps {
            if let refuted = step.refutes { try drop(refuted, step.name, in: report, repository: repository, db) }
        }
        guard let trust = report.trust,
            let scope = ProofScope.own(trust, change: report.change?.name, ref: report.ref)
        else { return }
        let cited = try warmCitations(of: report, repository, db)
        // What was restored from a warm run is warm, too.
        let isWarm = report.base != nil || !cited.isEmpty
        var proved: [ProofOrigin: [[String]]] = [:]
        for step in report.steps {
            guard step.status == .passed, let key = step.key else { continue }
            // Nothing is new if the proof that was used is already valid in this scope.
            if step.provedBy != nil && scope != ProofScope.merged { continue }
            let from = step.provedBy ?? ProofCitation(run: report.id, attempt: report.attempt, step: step.name)
            let origin = ProofOrigin(
                run: from.run, attempt: from.attempt, isWarm: step.provedBy.map(cited.contains) ?? isWarm)
            proved[origin, default: []].append([key.value, key.definition, from.step])
        }
        // One statement for all proofs of a run: each separate one would keep a copy of every page that it changes
        // until it ends.
        let insert = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO proof (
                    repository, key, scope, definition, workflow, step, run, runAttempt, warm)
                SELECT ?1, new.value ->> 0, ?2, new.value ->> 1, ?3, new.value ->> 2, ?4, ?5, ?6
                FROM json_each(?7) AS new
                WHERE EXISTS (SELECT 1 FROM run WHERE id = ?4)
                    AND NOT EXISTS (
                        SELECT 1 FROM proofFloor WHERE repository = ?1 AND scope = ?2 AND run >= min(?4, ?9))
                    AND NOT EXISTS (
                        SELECT 1 FROM distrust
                        WHERE repository = ?1 AND definition = new.value ->> 1 AND (times > 1 OR at > ?8))
                """)
        let first = try firstAttempt(of: report, db)
        for (origin, steps) in proved {
            try insert.execute(arguments: [
                repository, scope, report.workflow, origin.run, origin.attempt, origin.isWarm,
                try ArchiveJSON.compactText(steps), report.endedAt.milliseconds - distrustLasts, first,
            ])
        }
    }

    /// Drops the proofs of a step that a failure shows to be wrong, and those of the steps that need it.
    private static func drop(
        _ refuted: ProofRefutation, _ step: String, in report: Report, repository: Int64, _ db: Database
    ) throws {
        try db.execute(
            sql: "DELETE FROM proof WHERE repository = ?1 AND definition = ?2 AND (?3 IS NULL OR scope = ?3)",
            arguments: [repository, refuted.definition, refuted.scope])
        // The steps that need it started with its outputs.
        for dependant in dependants(of: step, in: report) {
            try db.execute(
                sql: """
                    DELETE FROM proof
                    WHERE repository = ?1 AND workflow = ?2 AND step = ?3 AND (?4 IS NULL OR scope = ?4)
                    """,
                arguments: [repository, report.workflow, dependant, refuted.scope])
        }
        guard refuted.scope == nil else { return }
        try db.execute(
            sql: """
                INSERT INTO distrust (repository, definition, workflow, step, run, provedBy, at, times)
                VALUES (?, ?, ?, ?, ?, ?, ?, 1)
                ON CONFLICT DO UPDATE SET times = times + (run <> excluded.run), run = excluded.run,
                    provedBy = excluded.provedBy, at = excluded.at
                """,
            arguments: [
                repository, refuted.definition, report.workflow, step, report.id, refuted.proof.run,
                report.endedAt.milliseconds,
            ])
    }

    /// The steps that need this one, directly or indirectly.
    private static func dependants(of step: String, in report: Report) -> Set<String> {
        var found: Set<String> = []
        var waiting = [step]
        while let need = waiting.popLast() {
            for other in report.steps where other.needs.contains(need) && found.insert(other.name).inserted {
                waiting.append(other.name)
            }
        }
        return found
    }

    /// The source of a proof.
    private struct ProofOrigin: Hashable {
        var run: RunID
        var attempt: Int
        /// Whether the workspace contained anything from an earlier run.
        var isWarm: Bool
    }

    /// The proofs in the report that come from runs without a fresh workspace, or from runs of which that is unknown.
    private static func warmCitations(
        of report: Report, _ repository: Int64, _ db: Database
    ) throws -> Set<ProofCitation> {
        var warm: Set<ProofCitation> = []
        let isCold = try db.cachedStatement(
            sql: "SELECT 1 FROM proof WHERE repository = ? AND key = ? AND run = ? AND NOT warm")
        for step in report.steps {
            guard let proof = step.provedBy, let key = step.key else { continue }
            if try Int.fetchOne(isCold, arguments: [repository, key.value, proof.run]) == nil { warm.insert(proof) }
        }
        return warm
    }

    private static func proof(_ row: Row) -> StepProof {
        StepProof(
            key: row["key"], definition: row["definition"], scope: row["scope"], workflow: row["workflow"],
            citation: ProofCitation(run: row["run"], attempt: row["runAttempt"], step: row["step"]))
    }
}
