internal import GRDB
package import Pipeline

/// A workflow that would have started for a commit, had it not been for a filter of its trigger.
package struct HeldBackWorkflow: Sendable, Equatable {
    package var name: String
    package var commit: String
    package var objection: TriggerObjection

    package init(name: String, commit: String, _ objection: TriggerObjection) {
        (self.name, self.commit, self.objection) = (name, commit, objection)
    }
}

/// What filters of triggers held back, for those who wait for a run.
extension Index {
    static func createHeldBack(_ db: Database) throws {
        try db.create(table: "heldBack", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("ref", .text).notNull()
            table.column("workflow", .text).notNull()
            table.column("commitID", .text).notNull()
            table.column("why", .text).notNull()
            table.primaryKey(["repository", "ref", "workflow"])
        }
        try db.create(index: "heldBack_commit", on: "heldBack", columns: ["commitID"])
    }

    /// Before, only messages were recorded.
    static func nameHoldingFilters(_ db: Database) throws {
        try db.alter(table: "heldBack") { table in
            table.add(column: "byFilter", .text).notNull().defaults(to: TriggerFilter.messages.name)
        }
    }

    /// Replaces what is known of a ref.
    static func setHeldBack(
        _ workflows: [HeldBackWorkflow], of ref: String, repository: Int64, _ db: Database
    ) throws {
        try db.cachedStatement(sql: "DELETE FROM heldBack WHERE repository = ? AND ref = ?")
            .execute(arguments: [repository, ref])
        for workflow in workflows {
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO heldBack (repository, ref, workflow, commitID, why, byFilter)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                repository, ref, workflow.name, workflow.commit, workflow.objection.why, workflow.objection.filter,
            ])
        }
    }

    /// The workflows that a filter held back when a ref of a repository came to a commit, by name, each once: of what
    /// was decided about several refs, with the reason of the one that came nearest to a run.
    package func heldBack(at commit: String, of repository: String) async throws -> [HeldBackWorkflow] {
        let found = try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT workflow, why, byFilter FROM heldBack
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND commitID = ?
                    ORDER BY workflow, why LIMIT 500
                    """, arguments: [repository, commit]
            ).map { row in
                HeldBackWorkflow(
                    name: row["workflow"], commit: commit, TriggerObjection(filter: row["byFilter"], why: row["why"]))
            }
        }
        var nearest: [HeldBackWorkflow] = []
        for one in found {
            if one.name != nearest.last?.name {
                nearest.append(one)
            } else if let last = nearest.last, one.objection.isNearer(than: last.objection) {
                nearest[nearest.count - 1] = one
            }
        }
        return nearest
    }
}
