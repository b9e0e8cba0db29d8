public import Results
internal import GRDB

/// Facts about a repository from its first observation, which a push must not be able to change.
extension Index {
    static func createTarget(_ db: Database) throws {
        try db.alter(table: "repository") { table in
            table.add(column: "target", .text)
            table.add(column: "targetSource", .text).check(sql: "targetSource IN ('head', 'person', 'guess')")
            // The folder of refs whose changes are named by their number alone. Empty: there is none. Null: not decided
            // yet.
            table.add(column: "numberedRefs", .text)
        }
    }

    static func createMissingTarget(_ db: Database) throws {
        // A branch that `--target` named before it existed. A later push of it decides nothing.
        try db.alter(table: "repository") { table in table.add(column: "missingTarget", .text) }
    }

    /// The branch that `--target` named although the repository did not have it; nil if there is none.
    public func missingTarget(of repository: String) async throws -> String? {
        try await read { db in
            try String.fetchOne(
                db, sql: "SELECT missingTarget FROM repository WHERE name = ?", arguments: [repository])
        }
    }

    /// Records that a branch named by `--target` does not exist.
    public func rememberMissingTarget(_ branch: String, of repository: String) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE repository SET missingTarget = ? WHERE name = ?", arguments: [branch, repository])
        }
    }

    /// The repository's target branch; nil before an observation has seen a branch.
    public func target(of repository: String) async throws -> TargetBranch? {
        try await read { db in try Self.target(of: repository, db) }
    }

    private static func target(of repository: String, _ db: Database) throws -> TargetBranch? {
        let row = try Row.fetchOne(
            db, sql: "SELECT target, targetSource FROM repository WHERE name = ?", arguments: [repository])
        guard let row, let name = row[0] as String?, let text = row[1] as String?,
            let source = TargetBranch.Source(rawValue: text)
        else { return nil }
        return TargetBranch(name, source)
    }

    /// Records the target branch that the first observation found, unless one is recorded already.
    ///
    /// - Returns: The branch that is recorded now.
    public func rememberTarget(_ target: TargetBranch, of repository: String) async throws -> TargetBranch? {
        try await write { db in
            try db.execute(
                sql: "UPDATE repository SET target = ?, targetSource = ? WHERE name = ? AND target IS NULL",
                arguments: [target.name, target.source.rawValue, repository])
            return try Self.target(of: repository, db)
        }
    }

    /// Records the branch that a person named, instead of the recorded one.
    public func setTarget(_ name: String, of repository: String) async throws {
        try await write { db in
            try db.execute(
                sql: """
                    UPDATE repository
                    SET target = ?, targetSource = 'person', missingTarget = nullif(missingTarget, ?) WHERE name = ?
                    """,
                arguments: [name, name, repository])
        }
    }

    /// The folder of refs whose changes are named by their number alone (`refs/pull/`). Empty: there is none. Nil: not
    /// decided.
    public func numberedRefs(of repository: String) async throws -> String? {
        try await read { db in
            try String.fetchOne(
                db, sql: "SELECT numberedRefs FROM repository WHERE name = ?", arguments: [repository])
        }
    }

    /// Records that folder, unless one is recorded already.
    public func rememberNumberedRefs(_ folder: String, of repository: String) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE repository SET numberedRefs = ? WHERE name = ? AND numberedRefs IS NULL",
                arguments: [folder, repository])
        }
    }
}
