import Foundation
public import Results
internal import GRDB

/// Releases: versions that were made of commits, and where they were published.
extension Index {
    static func createVersions(_ db: Database) throws {
        try db.create(table: "version") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("workflow", .text).notNull()
            table.column("commitId", .text).notNull()
            table.column("version", .text).notNull()
            table.column("state", .text).notNull()
            // The record as JSON, with the state and notes of the time when it was made.
            table.column("record", .text).notNull()
            table.column("notes", .text).notNull()
            table.column("reason", .text)
            table.uniqueKey(["repository", "workflow", "commitId"])
            table.uniqueKey(["repository", "version"])
        }
        try db.create(table: "publication") { table in
            table.column("version", .integer).notNull().references("version", onDelete: .cascade)
            table.column("step", .text).notNull()
            table.column("record", .text).notNull()
            // What the publisher noted, as a JSON object of texts.
            table.column("progress", .text).notNull().defaults(to: "{}")
            table.primaryKey(["version", "step"])
        }
    }

    /// Since then, a commit may have several releases: a candidate and the final one.
    static func separateVersions(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE newVersion (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    repository INTEGER NOT NULL REFERENCES repository ON DELETE CASCADE, workflow TEXT NOT NULL,
                    commitId TEXT NOT NULL, version TEXT NOT NULL, state TEXT NOT NULL, record TEXT NOT NULL,
                    notes TEXT NOT NULL, reason TEXT, UNIQUE (repository, version));
                INSERT INTO newVersion SELECT * FROM version;
                DROP TABLE version;
                ALTER TABLE newVersion RENAME TO version;
                """)
    }

    private static let rowOf = "repository = (SELECT id FROM repository WHERE name = ?) AND version.version = ?"

    /// Keeps a new release.
    ///
    /// - Parameter draft: The commit of a draft with its version that it replaces.
    /// - Returns: The release that has its version now, which may be an earlier one; nil if the repository is not known.
    public func addRelease(_ release: ReleaseRecord, replacing draft: String? = nil) async throws -> ReleaseRecord? {
        let json = try ArchiveJSON.compactText(release)
        return try await write { db in
            try db.execute(
                sql: "DELETE FROM version WHERE \(Self.rowOf) AND commitId = ? AND state = 'draft'",
                arguments: [release.repository, release.version, draft])
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO version (repository, workflow, commitId, version, state, record, notes)
                    SELECT id, ?, ?, ?, ?, ?, ? FROM repository WHERE name = ?
                    """,
                arguments: [
                    release.workflow, release.commit, release.version, release.state.rawValue, json, release.notes,
                    release.repository,
                ])
            return try Self.release(release.version, of: release.repository, db)
        }
    }

    /// The release with this version.
    public func release(_ version: String, of repository: String) async throws -> ReleaseRecord? {
        try await read { db in try Self.release(version, of: repository, db) }
    }

    /// The newest releases, newest first.
    ///
    /// - Parameter repository: Only those of this repository, by its name.
    public func versions(of repository: String?, limit: Int) async throws -> [ReleaseRecord] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT * FROM version
                    WHERE ?1 IS NULL OR repository = (SELECT id FROM repository WHERE name = ?1)
                    ORDER BY id DESC LIMIT ?2
                    """, arguments: [repository, max(limit, 0)]
            ).map { try Self.release($0, db) }
        }
    }

    /// Replaces the notes of a draft.
    ///
    /// - Returns: Whether it was one.
    public func setNotes(_ notes: String, of version: String, in repository: String) async throws -> Bool {
        try await write { db in
            try db.execute(
                sql: "UPDATE version SET notes = ? WHERE \(Self.rowOf) AND state = 'draft'",
                arguments: [notes, repository, version])
            return db.changesCount == 1
        }
    }

    /// Moves a release to `state` if it is in one of the states `from`.
    ///
    /// - Parameters:
    ///   - reason: Why, for a release that is withdrawn.
    ///   - notes: Only if the notes are still these.
    /// - Returns: Whether it was in one of them.
    public func move(
        _ version: String, of repository: String, from: [ReleaseRecord.State], to state: ReleaseRecord.State,
        reason: String? = nil, notes: String? = nil
    ) async throws -> Bool {
        let states = from.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return try await write { db in
            try db.execute(
                sql: """
                    UPDATE version SET state = ?1, reason = ?2
                    WHERE repository = (SELECT id FROM repository WHERE name = ?3) AND version = ?4
                        AND state IN (\(states)) AND (?5 IS NULL OR notes = ?5)
                    """, arguments: [state.rawValue, reason, repository, version, notes])
            return db.changesCount == 1
        }
    }

    /// Records where a release is. What a publisher has noted stays.
    public func record(_ publication: PublicationRecord, of version: String, in repository: String) async throws {
        let json = try ArchiveJSON.compactText(publication)
        try await write { db in
            try db.execute(
                sql: """
                    INSERT INTO publication (version, step, record) SELECT id, ?, ? FROM version WHERE \(Self.rowOf)
                    ON CONFLICT (version, step) DO UPDATE SET record = excluded.record
                    """, arguments: [publication.step, json, repository, version])
        }
    }

    /// What a publisher has noted.
    public func publishingNote(
        _ key: String, of step: String, version: String, in repository: String
    ) async throws -> String? {
        try await read { db in
            try String.fetchOne(
                db,
                sql: """
                    SELECT entry.value FROM publication JOIN version ON version.id = publication.version,
                        json_each(publication.progress) AS entry
                    WHERE \(Self.rowOf) AND step = ? AND entry.key = ?
                    """, arguments: [repository, version, step, key])
        }
    }

    /// Notes a value durably for a publisher; nil removes it.
    public func setPublishingNote(
        _ key: String, to value: String?, of step: String, version: String, in repository: String
    ) async throws {
        let patch = try ArchiveJSON.compactText([key: value])
        try await write { db in
            try db.execute(
                sql: """
                    UPDATE publication SET progress = json_patch(progress, ?)
                    WHERE step = ? AND version = (SELECT id FROM version WHERE \(Self.rowOf))
                    """, arguments: [patch, step, repository, version])
        }
    }

    private static func release(_ version: String, of repository: String, _ db: Database) throws -> ReleaseRecord? {
        try Row.fetchOne(db, sql: "SELECT * FROM version WHERE \(rowOf)", arguments: [repository, version])
            .map { try release($0, db) }
    }

    private static func release(_ row: Row, _ db: Database) throws -> ReleaseRecord {
        var release = try ArchiveJSON.decode(ReleaseRecord.self, from: row["record"] as String)
        release.state = ReleaseRecord.State(rawValue: row["state"]) ?? release.state
        (release.notes, release.reason) = (row["notes"], row["reason"])
        release.publications = try String.fetchAll(
            db, sql: "SELECT record FROM publication WHERE version = ? ORDER BY rowid", arguments: [row["id"] as Int64]
        ).map { try ArchiveJSON.decode(PublicationRecord.self, from: $0) }
        return release
    }
}
