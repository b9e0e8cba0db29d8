public import Foundation
internal import GRDB
internal import Pipeline
public import Results

/// What forges say about changes, and what people asked for there.
extension Index {
    /// Pushes whose author is remembered for a repository.
    static let keptForgePushes = 5_000

    static func createForgeChange(_ db: Database) throws {
        try db.create(table: "forgeChange", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("forge", onDelete: .cascade)
            table.column("name", .text).notNull()
            table.column("facts", .text).notNull()
            table.column("decided", .text)
            table.primaryKey(["repository", "name"])
        }
        try db.create(table: "forgeCursor") { table in
            table.primaryKey("repository", .integer).references("forge", onDelete: .cascade)
            table.column("seen", .integer).notNull()
            table.column("etag", .text)
        }
        try db.create(table: "forgePush") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("repository", .integer).notNull().references("forge", onDelete: .cascade)
            table.column("head", .text).notNull()
            table.column("login", .text).notNull()
            table.column("user", .integer)
            table.uniqueKey(["repository", "head"])
        }
        try db.create(table: "forgeOrder", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("forge", onDelete: .cascade)
            table.column("key", .text).notNull()
            table.column("change", .integer)
            table.column("at", .integer).notNull()
            table.column("by", .text).notNull()
            table.column("isObeyed", .boolean).notNull()
            table.column("text", .text).notNull()
            table.primaryKey(["repository", "key"])
        }
        try db.create(index: "forgeOrder_change", on: "forgeOrder", columns: ["repository", "change", "at"])
    }

    // MARK: Facts

    /// Stores the newest facts of changes by their numbers.
    ///
    /// - Parameter isBaseline: Whether they are taken as decided where nothing was known before.
    public func keepForgeChanges(
        _ facts: [String: ChangeFacts], of repository: String, isBaseline: Bool = false
    ) async throws -> ForgeChangeNews {
        try await write { db in
            var news = ForgeChangeNews()
            guard let forge = try Self.forgeID(repository, db) else { return news }
            for (name, new) in facts.sorted(by: { $0.key < $1.key }) {
                let text = try ArchiveJSON.compactText(new)
                let row = try Row.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT facts, decided, labels FROM forgeChange WHERE repository = ? AND name = ?"),
                    arguments: [forge, name])
                var known: ChangeFacts?
                if let row {
                    let old = try ArchiveJSON.decode(ChangeFacts.self, from: row["facts"] as String)
                    known = old
                    if old.pusher != new.pusher { news.withOtherPusher.append(name) }
                    if row["decided"] as String? != text { news.undecided.append(name) }
                } else {
                    news.withOtherPusher.append(name)
                    if !isBaseline { news.undecided.append(name) }
                }
                let marks = LabelMark.marks(
                    try (row?["labels"]).map { try ArchiveJSON.decode([String: LabelMark].self, from: $0 as String) }
                        ?? [:], old: known, new: new, isBaseline: isBaseline)
                try db.cachedStatement(
                    sql: """
                        INSERT INTO forgeChange (repository, name, facts, decided, labels) VALUES (?, ?, ?, ?, ?)
                        ON CONFLICT (repository, name) DO UPDATE SET facts = excluded.facts, labels = excluded.labels
                        """
                ).execute(arguments: [forge, name, text, isBaseline ? text : nil, try ArchiveJSON.compactText(marks)])
            }
            return news
        }
    }

    /// What the forge of `repository` says about these changes; those that it was not asked about are missing.
    public func forgeChanges(of repository: String, named names: [String]) async throws -> [ForgeChangeRecord] {
        try await read { db in
            guard let forge = try Self.forgeID(repository, db) else { return [] }
            return try names.sorted().compactMap { name in
                try Row.fetchOne(
                    db.cachedStatement(
                        sql: "SELECT name, facts, decided, labels FROM forgeChange WHERE repository = ? AND name = ?"),
                    arguments: [forge, name]
                ).map(Self.forgeChange)
            }
        }
    }

    /// The changes whose facts are newer than those that runs were decided by, by name.
    public func undecidedForgeChanges(of repository: String) async throws -> [ForgeChangeRecord] {
        try await read { db in
            try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT forgeChange.name, facts, decided, labels FROM forgeChange
                        JOIN repository ON repository.id = forgeChange.repository
                        WHERE repository.name = ? AND decided IS NOT facts ORDER BY forgeChange.name
                        """), arguments: [repository]
            ).map(Self.forgeChange)
        }
    }

    private static func forgeChange(_ row: Row) throws -> ForgeChangeRecord {
        ForgeChangeRecord(
            name: row["name"], facts: try ArchiveJSON.decode(ChangeFacts.self, from: row["facts"] as String),
            decided: try (row["decided"] as String?).map { try ArchiveJSON.decode(ChangeFacts.self, from: $0) },
            labels: try ArchiveJSON.decode([String: LabelMark].self, from: row["labels"] as String))
    }

    /// The changes that have labels at the forge of `repository`, by name.
    public func labelledForgeChanges(of repository: String) async throws -> [ForgeChangeRecord] {
        try await read { db in
            guard let forge = try Self.forgeID(repository, db) else { return [] }
            return try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        SELECT name, facts, decided, labels FROM forgeChange
                        WHERE repository = ? AND labels <> '{}' ORDER BY name
                        """), arguments: [forge]
            ).map(Self.forgeChange)
        }
    }

    /// Notes that `head` of a change was put in line because of `label`; nothing if the label is gone by now.
    public func noteLabel(_ label: String, done head: String, of change: String, in repository: String) async throws {
        try await write { db in
            guard let forge = try Self.forgeID(repository, db),
                let text = try String.fetchOne(
                    db, sql: "SELECT labels FROM forgeChange WHERE repository = ? AND name = ?",
                    arguments: [forge, change])
            else { return }
            var marks = try ArchiveJSON.decode([String: LabelMark].self, from: text)
            guard marks[label] != nil else { return }
            marks[label]?.done = head
            try db.execute(
                sql: "UPDATE forgeChange SET labels = ? WHERE repository = ? AND name = ?",
                arguments: [try ArchiveJSON.compactText(marks), forge, change])
        }
    }

    /// Notes that runs of a change were decided by `facts`; newer facts stay undecided.
    static func decide(_ facts: ChangeFacts, of name: String, repository: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE forgeChange SET decided = ? WHERE repository = ? AND name = ?")
            .execute(arguments: [try ArchiveJSON.compactText(facts), repository, name])
    }

    /// Who brings the code of a change at `head`, for the decision whether to trust it: nil where no forge is connected, and
    /// `unknown` where the forge has not said.
    public func contributor(of change: String?, head: String, in repository: String) async throws -> Contributor? {
        try await read { db in
            guard let forge = try Self.forgeID(repository, db) else { return nil }
            // Branches of the repository itself are pushed by those who may.
            guard let change, change.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return Contributor(login: "", standing: .writer)
            }
            let text = try String.fetchOne(
                db, sql: "SELECT facts FROM forgeChange WHERE repository = ? AND name = ?", arguments: [forge, change])
            guard let text else { return Contributor(login: "", standing: .unknown) }
            let facts = try ArchiveJSON.decode(ChangeFacts.self, from: text)
            guard let pusher = facts.pusher, facts.head == head || facts.headRepository == nil else {
                return Contributor(login: facts.author, standing: .unknown)
            }
            return pusher
        }
    }

    /// The same for a run.
    ///
    /// - Parameter pushed: The commit that somebody pushed.
    public func contributor(of request: RunRequest, pushed: String) async throws -> Contributor? {
        // A person put what a merge queue tests in line.
        let change = request.isOfMergeQueue ? nil : request.change?.name
        return try await contributor(of: change, head: pushed, in: request.repository)
    }

    /// Whether a change that `login` opened has landed.
    public func hasLanded(_ login: String, in repository: String) async throws -> Bool {
        try await read { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM forgeChange
                        JOIN repository ON repository.id = forgeChange.repository
                        JOIN change ON change.repository = repository.id AND change.name = forgeChange.name
                        WHERE repository.name = ? AND change.state = 'landed'
                            AND json_extract(facts, '$.author') = ?)
                    """, arguments: [repository, login]) ?? false
        }
    }

    /// Repetitions that were started for an order.
    public func reruns(for order: String, in repository: String) async throws -> [(id: RunID, workflow: String)] {
        try await read { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT id, workflow FROM run
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND rerunOf IS NOT NULL
                        AND nonce = 'rerun of ' || rerunOf || ' for ' || ?
                    ORDER BY id
                    """, arguments: [repository, order]
            ).map { ($0["id"], $0["workflow"]) }
        }
    }

    // MARK: Pushes

    /// Remembers who pushed which heads, as the forge's deliveries say.
    public func keepForgePushes(_ pushers: [String: ForgePusher], of repository: String) async throws {
        guard !pushers.isEmpty else { return }
        try await write { db in
            guard let forge = try Self.forgeID(repository, db) else { return }
            for (head, pusher) in pushers.sorted(by: { $0.key < $1.key }) {
                // The first one counts: the same commit, pushed once more, is still that of who brought it.
                try db.execute(
                    sql: "INSERT OR IGNORE INTO forgePush (repository, head, login, user) VALUES (?, ?, ?, ?)",
                    arguments: [forge, head, pusher.login, pusher.id])
            }
            try db.execute(
                sql: """
                    DELETE FROM forgePush WHERE repository = ?1 AND id <= (
                        SELECT id FROM forgePush WHERE repository = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
                    """, arguments: [forge, Self.keptForgePushes])
        }
    }

    /// Who pushed `head`; nil where no delivery said so.
    public func forgePusher(of head: String, in repository: String) async throws -> ForgePusher? {
        try await read { db in
            guard let forge = try Self.forgeID(repository, db) else { return nil }
            return try Row.fetchOne(
                db, sql: "SELECT login, user FROM forgePush WHERE repository = ? AND head = ?",
                arguments: [forge, head]
            ).map { ForgePusher(login: $0["login"], id: $0["user"]) }
        }
    }

    // MARK: Cursor and orders

    /// How far the forge's list of changes was read; nil before the first time.
    public func forgeCursor(of repository: String) async throws -> ForgeCursor? {
        try await read { db in
            guard let forge = try Self.forgeID(repository, db) else { return nil }
            return try Row.fetchOne(
                db, sql: "SELECT seen, etag FROM forgeCursor WHERE repository = ?", arguments: [forge]
            ).map { ForgeCursor(seen: Date(milliseconds: $0["seen"]), etag: $0["etag"]) }
        }
    }

    public func keepForgeCursor(_ cursor: ForgeCursor, of repository: String) async throws {
        try await write { db in
            guard let forge = try Self.forgeID(repository, db) else { return }
            try db.execute(
                sql: """
                    INSERT INTO forgeCursor (repository, seen, etag) VALUES (?, ?, ?)
                    ON CONFLICT (repository) DO UPDATE SET seen = excluded.seen, etag = excluded.etag
                    """, arguments: [forge, cursor.seen.milliseconds, cursor.etag])
        }
    }

    /// What became of an order; nil where it is new.
    public func forgeOrder(_ key: String, of repository: String) async throws -> ForgeOrderRecord? {
        try await read { db in
            guard let forge = try Self.forgeID(repository, db) else { return nil }
            return try Row.fetchOne(
                db, sql: "SELECT * FROM forgeOrder WHERE repository = ? AND key = ?", arguments: [forge, key]
            ).map {
                ForgeOrderRecord(
                    key: $0["key"], change: $0["change"], by: $0["by"], isObeyed: $0["isObeyed"], text: $0["text"])
            }
        }
    }

    /// How many orders at a change were answered since `date`.
    public func forgeOrders(at change: Int, since date: Date, of repository: String) async throws -> Int {
        try await read { db in
            guard let forge = try Self.forgeID(repository, db) else { return 0 }
            return try Int.fetchOne(
                db,
                sql: "SELECT count(*) FROM forgeOrder WHERE repository = ? AND change = ? AND at >= ?",
                arguments: [forge, change, date.milliseconds]) ?? 0
        }
    }

    /// Notes what became of an order. The first note stays.
    public func keepForgeOrder(_ order: ForgeOrderRecord, of repository: String) async throws {
        let now = now().milliseconds
        try await write { db in
            guard let forge = try Self.forgeID(repository, db) else { return }
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO forgeOrder (repository, key, change, at, "by", isObeyed, text)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [forge, order.key, order.change, now, order.by, order.isObeyed, order.text])
        }
    }
}
