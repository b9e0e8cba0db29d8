internal import GRDB
public import Results

/// Open changes that conflict with each other, as the last pass over them found.
extension Index {
    static func createEarlyConflict(_ db: Database) throws {
        try db.create(table: "earlyConflict", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("change", .text).notNull()
            table.column("other", .text).notNull()
            table.column("facts", .text).notNull()
            table.primaryKey(["repository", "change", "other"])
        }
    }

    /// Replaces what is known of a repository. Each conflict is found from both sides.
    public func setEarlyConflicts(_ conflicts: [EarlyConflict], of repository: String) async throws {
        try await write(flushed: false) { db in
            let id = try Self.repositoryID(repository, db)
            try db.execute(sql: "DELETE FROM earlyConflict WHERE repository = ?", arguments: [id])
            for conflict in conflicts.flatMap({ [$0, $0.reversed] }) {
                try db.execute(
                    sql: "INSERT OR REPLACE INTO earlyConflict (repository, change, other, facts) VALUES (?, ?, ?, ?)",
                    arguments: [id, conflict.change, conflict.other, try ArchiveJSON.compactText(conflict)])
            }
        }
    }

    /// All conflicts of a repository, each from both sides.
    public func earlyConflicts(in repository: String) async throws -> [EarlyConflict] {
        try await shortRead { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT facts FROM earlyConflict JOIN repository ON repository.id = earlyConflict.repository
                    WHERE name = ? ORDER BY change, other
                    """, arguments: [repository]
            ).map { try ArchiveJSON.decode(EarlyConflict.self, from: $0) }
        }
    }

    /// The open changes that a change conflicts with, by name.
    public func earlyConflicts(of change: String, in repository: String) async throws -> [EarlyConflict] {
        try await shortRead { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT facts FROM earlyConflict JOIN repository ON repository.id = earlyConflict.repository
                    WHERE name = ? AND change = ? ORDER BY other
                    """, arguments: [repository, change]
            ).map { try ArchiveJSON.decode(EarlyConflict.self, from: $0) }
        }
    }
}
