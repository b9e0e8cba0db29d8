internal import GRDB

/// A workflow that would have started for a commit, had its message been another one.
public struct HeldBackWorkflow: Sendable, Equatable {
    public var name: String
    public var commit: String
    /// A sentence about the workflow without its subject.
    public var why: String

    public init(name: String, commit: String, why: String) {
        (self.name, self.commit, self.why) = (name, commit, why)
    }
}

/// What the messages of commits held back, for those who wait for a run.
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

    /// Replaces what is known of a ref.
    static func setHeldBack(
        _ workflows: [HeldBackWorkflow], of ref: String, repository: Int64, _ db: Database
    ) throws {
        try db.cachedStatement(sql: "DELETE FROM heldBack WHERE repository = ? AND ref = ?")
            .execute(arguments: [repository, ref])
        for workflow in workflows {
            try db.cachedStatement(
                sql: "INSERT OR REPLACE INTO heldBack (repository, ref, workflow, commitID, why) VALUES (?, ?, ?, ?, ?)"
            ).execute(arguments: [repository, ref, workflow.name, workflow.commit, workflow.why])
        }
    }

    /// The workflows that the message of a commit held back when a ref of a repository came to it, by name, each once.
    public func heldBack(at commit: String, of repository: String) async throws -> [HeldBackWorkflow] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT workflow, min(why) AS why FROM heldBack
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND commitID = ?
                    GROUP BY workflow ORDER BY workflow LIMIT 100
                    """, arguments: [repository, commit]
            ).map { HeldBackWorkflow(name: $0["workflow"], commit: commit, why: $0["why"]) }
        }
    }
}
