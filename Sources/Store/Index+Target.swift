public import Results
internal import GRDB

/// What is remembered of a repository from its first look, because a push must not be able to change it.
extension Index {
    static func createTarget(_ db: Database) throws {
        try db.alter(table: "repository") { table in
            table.add(column: "target", .text)
            table.add(column: "targetSource", .text).check(sql: "targetSource IN ('head', 'person', 'guess')")
            // The folder of refs whose changes are called by their number alone; empty: none is. Null: not decided yet.
            table.add(column: "numberedRefs", .text)
        }
    }

    static func createMissingTarget(_ db: Database) throws {
        // A branch that a person named before it was there; whoever pushes it later decides nothing.
        try db.alter(table: "repository") { table in table.add(column: "missingTarget", .text) }
    }

    /// The branch that `--target` named when the repository had no such branch; nil where there was none.
    public func missingTarget(of repository: String) async throws -> String? {
        try await read { db in
            try String.fetchOne(
                db, sql: "SELECT missingTarget FROM repository WHERE name = ?", arguments: [repository])
        }
    }

    /// Remembers that a branch which a person named is not there.
    public func rememberMissingTarget(_ branch: String, of repository: String) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE repository SET missingTarget = ? WHERE name = ?", arguments: [branch, repository])
        }
    }

    /// The branch that changes of the repository want into; nil before a look has seen a branch.
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

    /// Remembers a branch as the first look found it; what is remembered already stays.
    ///
    /// - Returns: What is remembered now.
    public func rememberTarget(_ target: TargetBranch, of repository: String) async throws -> TargetBranch? {
        try await write { db in
            try db.execute(
                sql: "UPDATE repository SET target = ?, targetSource = ? WHERE name = ? AND target IS NULL",
                arguments: [target.name, target.source.rawValue, repository])
            return try Self.target(of: repository, db)
        }
    }

    /// Remembers the branch that a person named, in place of what was remembered.
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

    /// The folder of refs whose changes are called by their number alone (`refs/pull/`); empty: none is; nil: not decided.
    public func numberedRefs(of repository: String) async throws -> String? {
        try await read { db in
            try String.fetchOne(
                db, sql: "SELECT numberedRefs FROM repository WHERE name = ?", arguments: [repository])
        }
    }

    /// Remembers that folder; what is remembered already stays.
    public func rememberNumberedRefs(_ folder: String, of repository: String) async throws {
        try await write { db in
            try db.execute(
                sql: "UPDATE repository SET numberedRefs = ? WHERE name = ? AND numberedRefs IS NULL",
                arguments: [folder, repository])
        }
    }
}
