public import Foundation
internal import GRDB

/// What forges delivered to the webhooks of connected repositories, so that a replayed delivery is known after a restart.
extension Index {
    /// Codes of deliveries that are kept for a repository.
    public static let keptForgeDeliveries = 20_000

    static func createForgeDelivery(_ db: Database) throws {
        try db.create(table: "forgeDelivery") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("repository", .integer).notNull().references("forge", onDelete: .cascade)
            table.column("code", .blob).notNull().check(sql: "length(code) BETWEEN 16 AND 64")
            table.uniqueKey(["repository", "code"])
        }
    }

    /// Remembers codes of deliveries, and forgets the oldest above ``keptForgeDeliveries``.
    public func keepForgeDeliveries(_ codes: [Data], of repository: String) async throws {
        guard !codes.isEmpty else { return }
        try await write { db in
            guard let forge = try Self.forgeID(repository, db) else { return }
            let insert = try db.cachedStatement(
                sql: "INSERT OR IGNORE INTO forgeDelivery (repository, code) VALUES (?, ?)")
            for code in codes { try insert.execute(arguments: [forge, code]) }
            try db.execute(
                sql: """
                    DELETE FROM forgeDelivery WHERE repository = ?1 AND id <= (
                        SELECT id FROM forgeDelivery WHERE repository = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
                    """, arguments: [forge, Self.keptForgeDeliveries])
        }
    }

    /// The codes that are remembered for a repository, oldest first.
    public func forgeDeliveries(of repository: String) async throws -> [Data] {
        try await read { db in
            guard let forge = try Self.forgeID(repository, db) else { return [] }
            return try Data.fetchAll(
                db, sql: "SELECT code FROM forgeDelivery WHERE repository = ? ORDER BY id", arguments: [forge])
        }
    }

    /// The row of a repository's connection; nil where there is none.
    static func forgeID(_ repository: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT forge.repository FROM forge JOIN repository ON repository.id = forge.repository
                    WHERE name = ?
                    """), arguments: [repository])
    }
}
