public import Results
internal import Foundation
internal import GRDB
internal import Pipeline

extension Index {
    /// Records the state of a change.
    public func setChange(_ change: ChangeRecord, of repository: String) async throws {
        let now = now()
        try await write { db in
            try Self.upsert(change, repository: Self.repositoryID(repository, db), at: now, db)
        }
    }

    /// The changes of a repository, ordered by number. Names that are not numbers come last.
    ///
    /// - Parameter states: Only changes in these states; nil: all.
    public func changes(of repository: String, states: Set<ChangeRecord.State>? = nil) async throws -> [ChangeRecord] {
        try await read { db in
            let wanted = (states ?? Set(ChangeRecord.State.allCases)).map { "'\($0.rawValue)'" }.joined(separator: ",")
            // Without statistics, SQLite would read all changes to find the few open ones.
            let hint = states.map { $0.isDisjoint(with: [.landed, .closed]) } == true ? "INDEXED BY change_state" : ""
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT change.* FROM change \(hint) JOIN repository ON repository.id = change.repository
                    WHERE repository.name = ? AND change.state IN (\(wanted))
                    ORDER BY change.name GLOB '*[^0-9]*', CAST(change.name AS INTEGER), change.name
                    """, arguments: [repository])
            return rows.compactMap(Self.change)
        }
    }

    /// The changes of a repository that moved last, newest first.
    public func newestChanges(of repository: String, limit: Int) async throws -> [ChangeRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT change.* FROM change
                        WHERE change.repository = (SELECT id FROM repository WHERE name = ?)
                        ORDER BY change.updatedAt DESC LIMIT ?
                        """), arguments: [repository, max(limit, 0)]
            ).compactMap(Self.change)
        }
    }

    /// How many changes of each repository are in these states, by the repository's name.
    public func changeCounts(_ states: Set<ChangeRecord.State>) async throws -> [String: [ChangeRecord.State: Int]] {
        try await read { db in
            let wanted = states.map { "'\($0.rawValue)'" }.sorted().joined(separator: ",")
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT repository.name, change.state, count(*) FROM repository
                    JOIN change INDEXED BY change_state ON change.repository = repository.id
                    WHERE change.state IN (\(wanted)) GROUP BY repository.id, change.state
                    """)
            var counts: [String: [ChangeRecord.State: Int]] = [:]
            for row in rows {
                guard let state = ChangeRecord.State(rawValue: row[1]) else { continue }
                counts[row[0], default: [:]][state] = row[2]
            }
            return counts
        }
    }

    static func changes(of repository: String, _ selection: ChangeSelection, _ db: Database) throws -> [ChangeRecord] {
        switch selection {
        case .all:
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT change.* FROM change JOIN repository ON repository.id = change.repository
                        WHERE repository.name = ?
                        """), arguments: [repository]
            ).compactMap(change)
        case .named(let names):
            try names.compactMap { try change($0, of: repository, db) }
        }
    }

    /// A change; nil if no observation has seen it.
    public func change(_ name: String, of repository: String) async throws -> ChangeRecord? {
        try await shortRead { db in try Self.change(name, of: repository, db) }
    }

    private static func change(_ name: String, of repository: String, _ db: Database) throws -> ChangeRecord? {
        try Row.fetchOne(
            db.cachedStatement(
                sql: """
                    SELECT change.* FROM change JOIN repository ON repository.id = change.repository
                    WHERE repository.name = ? AND change.name = ?
                    """), arguments: [repository, name]
        ).flatMap(change)
    }

    /// The locations of the watched repositories, by name.
    public func repositories() async throws -> [String: String] {
        try await read { db in
            let rows = try Row.fetchAll(db, sql: "SELECT name, location FROM repository")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["name"], $0["location"]) })
        }
    }

    static func upsert(_ change: ChangeRecord, repository: Int64, at now: Date, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO change (repository, name, target, head, targetCommit, state, title, author,
                    landedCommit, recognition, updatedAt)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            repository, change.name, change.target, change.head, change.targetCommit, change.state.rawValue,
            change.title,
            change.author, change.landedCommit, change.recognition?.rawValue, now.milliseconds,
        ])
    }

    private static func change(_ row: Row) -> ChangeRecord? {
        // The schema allows only known states.
        guard let state = ChangeRecord.State(rawValue: row["state"]) else { return nil }
        return ChangeRecord(
            name: row["name"], target: row["target"], head: row["head"], targetCommit: row["targetCommit"],
            state: state,
            title: row["title"], author: row["author"], landedCommit: row["landedCommit"],
            recognition: (row["recognition"] as String?).flatMap(MergedChange.Recognition.init(rawValue:)),
            updatedAt: Date(milliseconds: row["updatedAt"]))
    }
}
