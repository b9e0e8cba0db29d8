public import Foundation
internal import GRDB
internal import Results

/// A token for the pages, as the store has it: without its text.
public struct AccessTokenRecord: Sendable, Equatable {
    public var name: String
    /// A part of its text that is no secret.
    public var id: String
    /// `read`, `operate` or `proxy`.
    public var scope: String
    /// SHA-256 of its text.
    public var digest: Data
    public var createdAt: Date
    public var expiresAt: Date?
    public var lastUsedAt: Date?

    public init(
        name: String, id: String, scope: String, digest: Data, createdAt: Date, expiresAt: Date? = nil,
        lastUsedAt: Date? = nil
    ) {
        self.name = name
        self.id = id
        self.scope = scope
        self.digest = digest
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
    }
}

/// A browser that is logged in to the pages.
public struct AccessSession: Sendable, Equatable {
    /// SHA-256 of the cookie's value.
    public var digest: Data
    /// The name of the token that it was made with; nil for a link or a sign-in.
    public var token: String?
    /// Who it is, in words.
    public var person: String
    /// Whether it may act.
    public var mayOperate: Bool
    /// When it was last used, to the minute.
    public var usedAt: Date
    public var expiresAt: Date

    public init(
        digest: Data, token: String?, person: String, mayOperate: Bool, usedAt: Date, expiresAt: Date
    ) {
        self.digest = digest
        self.token = token
        self.person = person
        self.mayOperate = mayOperate
        self.usedAt = usedAt
        self.expiresAt = expiresAt
    }
}

/// Who may see the pages and act there: tokens, and the browsers that are logged in.
extension Index {
    /// Sessions that are kept; the one that was not used for longest ends for a new one.
    public static let keptSessions = 1_000

    static func createAccess(_ db: Database) throws {
        try db.create(table: "accessToken") { table in
            table.primaryKey("id", .text).notNull()
            table.column("name", .text).notNull().unique()
            table.column("scope", .text).notNull().check(sql: "scope IN ('read', 'operate', 'proxy')")
            table.column("digest", .blob).notNull().check(sql: "length(digest) = 32")
            table.column("createdAt", .integer).notNull()
            table.column("expiresAt", .integer)
            table.column("lastUsedAt", .integer)
        }
        try db.create(table: "accessSession") { table in
            table.primaryKey("digest", .blob).notNull().check(sql: "length(digest) = 32")
            table.column("token", .text).references("accessToken", column: "name", onDelete: .cascade)
            table.column("person", .text).notNull()
            table.column("mayOperate", .boolean).notNull()
            table.column("usedAt", .integer).notNull()
            table.column("expiresAt", .integer).notNull()
        }
    }

    // MARK: Tokens

    /// Keeps a new token.
    ///
    /// - Returns: False, without a change, if there is one with this name or id.
    public func addAccessToken(_ token: AccessTokenRecord) async throws -> Bool {
        try await write { db in
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO accessToken (name, id, scope, digest, createdAt, expiresAt)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    token.name, token.id, token.scope, token.digest, token.createdAt.milliseconds,
                    token.expiresAt?.milliseconds,
                ])
            return db.changesCount == 1
        }
    }

    /// All tokens, by name.
    public func accessTokens() async throws -> [AccessTokenRecord] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM accessToken ORDER BY name").map(Self.accessToken)
        }
    }

    public func accessToken(id: String) async throws -> AccessTokenRecord? {
        try await shortRead { db in
            try Row.fetchOne(db.cachedStatement(sql: "SELECT * FROM accessToken WHERE id = ?"), arguments: [id])
                .map(Self.accessToken)
        }
    }

    /// Forgets a token; the sessions that were made with it end.
    ///
    /// - Returns: How many sessions ended; nil where there is no such token.
    public func removeAccessToken(_ name: String) async throws -> Int? {
        try await write { db in
            let sessions = try Int.fetchOne(
                db, sql: "SELECT count(*) FROM accessSession WHERE token = ?", arguments: [name])
            try db.execute(sql: "DELETE FROM accessSession WHERE token = ?", arguments: [name])
            try db.execute(sql: "DELETE FROM accessToken WHERE name = ?", arguments: [name])
            return db.changesCount == 1 ? sessions : nil
        }
    }

    /// Notes that a token was used now. A power cut may undo that.
    public func noteUse(ofAccessToken id: String) async throws {
        let now = now().milliseconds
        try await write(flushed: false) { db in
            try db.execute(sql: "UPDATE accessToken SET lastUsedAt = ? WHERE id = ?", arguments: [now, id])
        }
    }

    private static func accessToken(_ row: Row) -> AccessTokenRecord {
        AccessTokenRecord(
            name: row["name"], id: row["id"], scope: row["scope"], digest: row["digest"],
            createdAt: Date(milliseconds: row["createdAt"]),
            expiresAt: (row["expiresAt"] as Int64?).map(Date.init(milliseconds:)),
            lastUsedAt: (row["lastUsedAt"] as Int64?).map(Date.init(milliseconds:)))
    }

    // MARK: Sessions

    /// Keeps a new session, and forgets those that have expired.
    ///
    /// - Returns: False, without a session, if its token has been removed meanwhile.
    public func addAccessSession(_ session: AccessSession) async throws -> Bool {
        let now = now().milliseconds
        return try await write { db in
            if let token = session.token {
                let known = try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM accessToken WHERE name = ?)", arguments: [token])
                guard known == true else { return false }
            }
            try db.execute(sql: "DELETE FROM accessSession WHERE expiresAt <= ?", arguments: [now])
            try db.execute(
                sql: """
                    DELETE FROM accessSession WHERE digest IN (
                        SELECT digest FROM accessSession ORDER BY usedAt DESC LIMIT -1 OFFSET ?)
                    """, arguments: [Self.keptSessions - 1])
            try db.execute(
                sql: """
                    INSERT INTO accessSession (digest, token, person, mayOperate, usedAt, expiresAt)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    session.digest, session.token, session.person, session.mayOperate, session.usedAt.milliseconds,
                    session.expiresAt.milliseconds,
                ])
            return true
        }
    }

    public func accessSession(digest: Data) async throws -> AccessSession? {
        try await shortRead { db in
            try Row.fetchOne(
                db.cachedStatement(sql: "SELECT * FROM accessSession WHERE digest = ?"), arguments: [digest]
            ).map { row in
                AccessSession(
                    digest: row["digest"], token: row["token"], person: row["person"], mayOperate: row["mayOperate"],
                    usedAt: Date(milliseconds: row["usedAt"]), expiresAt: Date(milliseconds: row["expiresAt"]))
            }
        }
    }

    /// Notes that a session was used now. A power cut may undo that.
    public func noteUse(ofAccessSession digest: Data) async throws {
        let now = now().milliseconds
        try await write(flushed: false) { db in
            try db.execute(sql: "UPDATE accessSession SET usedAt = ? WHERE digest = ?", arguments: [now, digest])
        }
    }

    /// Ends a session; nil: all of them.
    ///
    /// - Returns: How many ended.
    public func removeAccessSessions(_ digest: Data?) async throws -> Int {
        try await write { db in
            if let digest {
                try db.execute(sql: "DELETE FROM accessSession WHERE digest = ?", arguments: [digest])
            } else {
                try db.execute(sql: "DELETE FROM accessSession")
            }
            return db.changesCount
        }
    }
}
