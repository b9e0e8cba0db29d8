public import Foundation
public import Results
internal import GRDB

/// Tasks: what agents are to do, and what happened to each.
extension Index {
    static func createTasks(_ db: Database) throws {
        try db.create(table: "task") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("state", .text).notNull()
            // The record as JSON; the state is in it, too.
            table.column("record", .text).notNull()
            // What is known beside the text, such as code near a crash, in Markdown.
            table.column("context", .text)
            // When it is to be looked at; null: never again by itself.
            table.column("dueAt", .integer)
        }
        // What makes a second request, or a second report, find its task.
        try db.create(table: "taskKey", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("key", .text).notNull()
            table.column("task", .integer).notNull().references("task", onDelete: .cascade)
            table.primaryKey(["repository", "key"])
        }
        try db.create(table: "taskEvent", options: .withoutRowID) { table in
            table.column("task", .integer).notNull().references("task", onDelete: .cascade)
            table.column("number", .integer).notNull()
            table.column("at", .integer).notNull()
            table.column("by", .text)
            table.column("what", .text).notNull()
            table.primaryKey(["task", "number"])
        }
        try db.create(table: "taskCrash", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("signature", .text).notNull()
            table.column("task", .integer).notNull().references("task", onDelete: .cascade)
            table.primaryKey(["repository", "signature"])
        }
        // The task that a run belongs to; null for other runs.
        try db.alter(table: "run") { table in table.add(column: "task", .integer) }
        try db.execute(
            sql: """
                CREATE INDEX run_task ON run (task, id) WHERE task IS NOT NULL;
                CREATE INDEX task_due ON task (dueAt) WHERE dueAt IS NOT NULL;
                CREATE INDEX task_repository ON task (repository, id);
                """)
    }

    /// SQL: whether a run is part of fixing another one or of a task, so that its verdict is none of a commit that
    /// somebody pushed.
    static let isOfAgent = "(run.fixOf IS NOT NULL OR run.task IS NOT NULL)"

    // MARK: Making and finding

    /// Adds a task, with a number of its own, and its first event.
    ///
    /// - Parameter context: What is known beside its text, in Markdown.
    /// - Returns: The task; the earlier one if there is one with the same key in the repository.
    public func addTask(
        _ task: TaskRecord, context: String? = nil, by person: String? = nil
    ) async throws -> (task: TaskRecord, isNew: Bool) {
        let now = now()
        return try await write { db in
            let repository = try Self.repositoryID(task.repository, db)
            if let known = try Self.task(withKey: task.key, repository, db) { return (known, false) }
            var task = task
            task.createdAt = now.wholeMilliseconds
            try db.execute(
                sql: "INSERT INTO task (repository, state, record, context, dueAt) VALUES (?, ?, '', ?, ?)",
                arguments: [repository, task.state.rawValue, context, now.milliseconds])
            task.id = db.lastInsertedRowID
            try Self.store(task, db)
            try db.execute(
                sql: "INSERT INTO taskKey (repository, key, task) VALUES (?, ?, ?)",
                arguments: [repository, task.key, task.id])
            if let crash = task.crash {
                // The newest task of a crash is the one that later reports belong to.
                try db.execute(
                    sql: "INSERT OR REPLACE INTO taskCrash (repository, signature, task) VALUES (?, ?, ?)",
                    arguments: [repository, crash.signature, task.id])
            }
            try Self.append(.created, to: task.id, by: person, at: now, db)
            return (task, true)
        }
    }

    public func task(_ id: TaskID) async throws -> TaskRecord? {
        try await shortRead { db in try Self.task(id, db) }
    }

    /// What is known of a task beside its text, in Markdown.
    public func taskContext(_ id: TaskID) async throws -> String? {
        try await read { db in
            try String.fetchOne(db, sql: "SELECT context FROM task WHERE id = ?", arguments: [id])
        }
    }

    /// The tasks that a filter selects, newest first.
    public func tasks(_ filter: TaskFilter = TaskFilter()) async throws -> [TaskRecord] {
        let states = try filter.states.map { try ArchiveJSON.compactText($0.map(\.rawValue).sorted()) }
        return try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT record FROM task
                    WHERE (?1 IS NULL OR repository = (SELECT id FROM repository WHERE name = ?1))
                        AND (?2 IS NULL OR state IN (SELECT value FROM json_each(?2)))
                        AND id < ?3
                    ORDER BY id DESC LIMIT ?4
                    """,
                arguments: [filter.repository, states, filter.before ?? .max, max(filter.limit, 0)]
            ).map { try ArchiveJSON.decode(TaskRecord.self, from: $0) }
        }
    }

    /// The task that a request or report with this key made or was counted by.
    public func task(withKey key: String, repository: String) async throws -> TaskRecord? {
        try await read { db in try Self.task(withKey: key, Self.knownRepository(repository, db), db) }
    }

    /// The newest task about a crash with this signature.
    public func task(withCrash signature: String, repository: String) async throws -> TaskRecord? {
        try await read { db in
            try TaskID.fetchOne(
                db, sql: "SELECT task FROM taskCrash WHERE repository = ? AND signature = ?",
                arguments: [Self.knownRepository(repository, db), signature]
            ).flatMap { try Self.task($0, db) }
        }
    }

    /// The task whose change has this name.
    public func task(withChange change: String, repository: String) async throws -> TaskRecord? {
        try await read { db in
            try String.fetchOne(
                db,
                sql: """
                    SELECT record FROM task
                    WHERE repository = ? AND json_extract(record, '$.change') = ? ORDER BY id DESC LIMIT 1
                    """, arguments: [Self.knownRepository(repository, db), change]
            ).map { try ArchiveJSON.decode(TaskRecord.self, from: $0) }
        }
    }

    /// What happened to a task, oldest first.
    public func taskEvents(of id: TaskID) async throws -> [TaskEvent] {
        try await read { db in
            try Row.fetchAll(db, sql: "SELECT * FROM taskEvent WHERE task = ? ORDER BY number", arguments: [id])
                .map(Self.taskEvent)
        }
    }

    /// The runs of a task, oldest first.
    public func taskRuns(of id: TaskID) async throws -> [IndexedRun] {
        let ids = try await read { db in
            try RunID.fetchAll(
                db, sql: "SELECT id FROM run WHERE task = ? AND task IS NOT NULL ORDER BY id", arguments: [id])
        }
        var runs: [IndexedRun] = []
        for id in ids { if let run = try await self.run(id) { runs.append(run) } }
        return runs
    }

    // MARK: What happens

    /// Records what happened to a task, and changes its record with it. The task is due then.
    ///
    /// - Parameters:
    ///   - states: Those in which it may happen; nil: any.
    ///   - key: What makes a repetition be found, such as a report's identifier.
    /// - Returns: The event; nil, without a change, if the task is in another state, or the key was recorded before.
    @discardableResult
    public func appendTaskEvent(
        _ what: TaskEvent.What, to id: TaskID, expecting states: Set<TaskState>? = nil, by person: String? = nil,
        key: String? = nil, updating change: @Sendable @escaping (inout TaskRecord) -> Void = { _ in }
    ) async throws -> TaskEvent? {
        let now = now()
        return try await write { db in
            guard var task = try Self.task(id, db) else { throw Self.unknownTask(id) }
            if let states, !states.contains(task.state) { return nil }
            if let key {
                try db.execute(
                    sql: "INSERT OR IGNORE INTO taskKey (repository, key, task) VALUES (?, ?, ?)",
                    arguments: [try Self.repositoryID(task.repository, db), key, id])
                guard db.changesCount == 1 else { return nil }
            }
            change(&task)
            try Self.store(task, db)
            try Self.setDue(id, at: now.milliseconds, db)
            return try Self.append(what, to: id, by: person, at: now, db)
        }
    }

    /// Changes the record of a task without an event.
    ///
    /// - Returns: Whether it was in one of the states; otherwise nothing is changed.
    @discardableResult
    public func updateTask(
        _ id: TaskID, expecting states: Set<TaskState>? = nil,
        _ change: @Sendable @escaping (inout TaskRecord) -> Void
    ) async throws -> Bool {
        try await write { db in
            guard var task = try Self.task(id, db) else { throw Self.unknownTask(id) }
            if let states, !states.contains(task.state) { return false }
            change(&task)
            try Self.store(task, db)
            return true
        }
    }

    // MARK: Due tasks

    /// The tasks that are to be looked at now, the one that waits longest first.
    public func dueTasks() async throws -> [TaskID] {
        let now = now().milliseconds
        return try await read { db in
            try TaskID.fetchAll(
                db, sql: "SELECT id FROM task WHERE dueAt IS NOT NULL AND dueAt <= ? ORDER BY dueAt, id",
                arguments: [now])
        }
    }

    /// Sets when a task is to be looked at next; nil: not by itself.
    public func setTaskDue(_ id: TaskID, at date: Date? = Date(timeIntervalSince1970: 0)) async throws {
        try await write { db in try Self.setDue(id, at: date?.milliseconds, db) }
    }

    /// Makes all tasks due that have not ended.
    public func setOpenTasksDue() async throws {
        try await write { db in
            let ended = TaskState.ends.map { "'\($0.rawValue)'" }.joined(separator: ", ")
            try db.execute(sql: "UPDATE task SET dueAt = 0 WHERE state NOT IN (\(ended))")
        }
    }

    /// Makes the task of a run due that has ended.
    static func setTaskDue(ofRun run: RunID, _ db: Database) throws {
        try db.cachedStatement(sql: "UPDATE task SET dueAt = 0 WHERE id = (SELECT task FROM run WHERE id = ?)")
            .execute(arguments: [run])
    }

    private static func setDue(_ id: TaskID, at time: Int64?, _ db: Database) throws {
        try db.execute(sql: "UPDATE task SET dueAt = ? WHERE id = ?", arguments: [time, id])
    }

    // MARK: Rows

    private static func unknownTask(_ id: TaskID) -> ArchiveError {
        ArchiveError(.unknownTask, "no task \(id); `pipectl task list` lists them")
    }

    private static func knownRepository(_ name: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(db, sql: "SELECT id FROM repository WHERE name = ?", arguments: [name])
    }

    private static func task(withKey key: String, _ repository: Int64?, _ db: Database) throws -> TaskRecord? {
        try TaskID.fetchOne(
            db, sql: "SELECT task FROM taskKey WHERE repository = ? AND key = ?", arguments: [repository, key]
        ).flatMap { try task($0, db) }
    }

    private static func task(_ id: TaskID, _ db: Database) throws -> TaskRecord? {
        try String.fetchOne(db.cachedStatement(sql: "SELECT record FROM task WHERE id = ?"), arguments: [id])
            .map { try ArchiveJSON.decode(TaskRecord.self, from: $0) }
    }

    private static func store(_ task: TaskRecord, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE task SET state = ?, record = ? WHERE id = ?",
            arguments: [task.state.rawValue, try ArchiveJSON.compactText(task), task.id])
    }

    @discardableResult
    private static func append(
        _ what: TaskEvent.What, to id: TaskID, by person: String?, at now: Date, _ db: Database
    ) throws -> TaskEvent {
        let number =
            try Int.fetchOne(
                db, sql: "SELECT coalesce(max(number), 0) + 1 FROM taskEvent WHERE task = ?", arguments: [id]) ?? 1
        let event = TaskEvent(task: id, number: number, at: now.wholeMilliseconds, by: person, what: what)
        try db.execute(
            sql: "INSERT INTO taskEvent (task, number, at, by, what) VALUES (?, ?, ?, ?, ?)",
            arguments: [id, number, now.milliseconds, person, try ArchiveJSON.compactText(what)])
        return event
    }

    private static func taskEvent(_ row: Row) throws -> TaskEvent {
        TaskEvent(
            task: row["task"], number: row["number"], at: Date(milliseconds: row["at"]), by: row["by"],
            what: try ArchiveJSON.decode(TaskEvent.What.self, from: row["what"] as String))
    }
}
