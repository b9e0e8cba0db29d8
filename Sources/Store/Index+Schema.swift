internal import GRDB

extension Index {
    /// Every schema change, oldest first. A change that was released is never edited.
    ///
    /// Times are milliseconds since 1970; commits are hexadecimal.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 runs") { db in
            try createRepository(db)
            try createRun(db)
            try createStep(db)
            try createTest(db)
            try createArtifact(db)
            try createChange(db)
        }
        migrator.registerMigration("2 approval") { db in try createApproval(db) }
        migrator.registerMigration("3 intent") { db in
            try createIntent(db)
            try nameTargets(db)
        }
        migrator.registerMigration("4 proof") { db in try createProof(db) }
        migrator.registerMigration("5 history") { db in try createHistory(db) }
        migrator.registerMigration("6 upkeep") { db in
            try db.alter(table: "run") { table in table.add(column: "isUpkeep", .boolean).notNull().defaults(to: false)
            }
        }
        migrator.registerMigration("repetition") { db in
            try db.execute(sql: "CREATE INDEX run_rerunOf ON run (rerunOf) WHERE rerunOf IS NOT NULL")
        }
        migrator.registerMigration("bisect") { db in try createBisect(db) }
        migrator.registerMigration("fix") { db in try createFix(db) }
        migrator.registerMigration("proofFloor") { db in try createProofFloor(db) }
        migrator.registerMigration("proofScope") { db in
            try db.execute(sql: "CREATE INDEX proof_scope ON proof (repository, scope) WHERE scope <> 'merged'")
        }
        migrator.registerMigration("target") { db in try createTarget(db) }
        migrator.registerMigration("outbox") { db in try createOutbox(db) }
        migrator.registerMigration("missingTarget") { db in try createMissingTarget(db) }
        migrator.registerMigration("forge") { db in try createForge(db) }
        migrator.registerMigration("archiveQueue") { db in try createArchiveQueue(db) }
        migrator.registerMigration("landing") { db in try createLanding(db) }
        migrator.registerMigration("earlyConflict") { db in try createEarlyConflict(db) }
        migrator.registerMigration("forgeDelivery") { db in try createForgeDelivery(db) }
        migrator.registerMigration("forgeChange") { db in try createForgeChange(db) }
        migrator.registerMigration("heldBack") { db in try createHeldBack(db) }
        migrator.registerMigration("landingUntested") { db in
            try db.alter(table: "landing") { $0.add(column: "isUntested", .boolean).notNull().defaults(to: false) }
        }
        migrator.registerMigration("forgeLabel") { db in
            // By the names of labels, as JSON.
            try db.alter(table: "forgeChange") { $0.add(column: "labels", .text).notNull().defaults(to: "{}") }
        }
        migrator.registerMigration("release") { db in try createReleases(db) }
        migrator.registerMigration("accessToken") { db in try createAccess(db) }
        migrator.registerMigration("heldBackFilter") { db in try nameHoldingFilters(db) }
        migrator.registerMigration("version") { db in try createVersions(db) }
        migrator.registerMigration("task") { db in try createTasks(db) }
        migrator.registerMigration("versionsOfCommit") { db in try separateVersions(db) }
        migrator.registerMigration("refusedPublication") { _ in }  // An older pipectl can't read that state.
        return migrator
    }

    /// The run up to which the proofs of a scope are not used, because they belong to another change with the same
    /// name.
    private static func createProofFloor(_ db: Database) throws {
        try db.create(table: "proofFloor", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("scope", .text).notNull()
            table.column("run", .integer).notNull()
            table.primaryKey(["repository", "scope"])
        }
    }

    private static func createProof(_ db: Database) throws {
        try db.create(table: "proof", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("key", .text).notNull().check(sql: "length(key) = 64")
            // The scope: "merged", or a change or ref.
            table.column("scope", .text).notNull()
            // Whether the workspace contained anything from an earlier run. A run with a fresh workspace does not use
            // such proofs. The column is here and not last, because SQLite checks the columns of a table without row
            // ids before a column of its key for NULL.
            table.column("warm", .boolean).notNull()
            table.column("definition", .text).notNull()
            table.column("workflow", .text).notNull()
            table.column("step", .text).notNull()
            // The run in which the step ran. Its report has the rest.
            table.column("run", .integer).notNull().references("run", onDelete: .cascade)
            table.column("runAttempt", .integer).notNull()
            table.primaryKey(["repository", "key", "scope", "warm"])
        }
        try db.execute(
            sql: """
                CREATE INDEX proof_run ON proof (run);
                CREATE INDEX proof_step ON proof (repository, workflow, step, run);
                CREATE INDEX proof_definition ON proof (repository, definition);
                """)
        try db.create(table: "distrust", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("definition", .text).notNull()
            table.column("workflow", .text).notNull()
            table.column("step", .text).notNull()
            // The run that showed that the proof was wrong, and the run that made it. Both may be removed by now.
            table.column("run", .integer).notNull()
            table.column("provedBy", .integer).notNull()
            table.column("at", .integer).notNull()
            // In how many runs a proof was wrong.
            table.column("times", .integer).notNull()
            table.primaryKey(["repository", "definition"])
        }
    }

    private static func createIntent(_ db: Database) throws {
        try db.create(table: "intent", options: .withoutRowID) { table in
            table.column("run", .integer).notNull().references("run", onDelete: .cascade)
            table.column("runAttempt", .integer).notNull()
            table.column("step", .text).notNull()
            table.column("stepAttempt", .integer).notNull()
            table.column("command", .text).notNull()
            table.column("isIdempotent", .boolean).notNull()
            table.column("startedAt", .integer).notNull()
            // Both are null until the result is known.
            table.column("endedAt", .integer)
            table.column("status", .text)
            table.primaryKey(["run", "runAttempt", "step", "stepAttempt"])
            table.check(sql: "(endedAt IS NULL) = (status IS NULL)")
        }
        // A release that was running when a version without intents ended: its effects are unknown.
        try db.execute(
            sql: """
                INSERT INTO intent (run, runAttempt, step, stepAttempt, command, isIdempotent, startedAt)
                SELECT id, attempt, 'steps', 1, 'recorded by an older pipectl', FALSE, startedAt FROM run
                WHERE state = 'running' AND json_extract(request, '$.runsAtMostOnce')
                """)
    }

    /// Since then, runs of the same head of a change are distinguished by the commit that the head is merged with.
    private static func nameTargets(_ db: Database) throws {
        try db.execute(
            sql: """
                UPDATE OR IGNORE run SET nonce = 'onto ' || json_extract(request, '$.change.targetCommit')
                WHERE nonce = '' AND json_extract(request, '$.change.targetCommit') IS NOT NULL
                """)
    }

    private static func createRepository(_ db: Database) throws {
        try db.create(table: "repository") { table in
            table.primaryKey("id", .integer)
            table.column("name", .text).notNull().unique()
            table.column("location", .text).notNull()
            // Null until the baseline; the cursor has no meaning before.
            table.column("baselineAt", .integer)
            // Increases with each start of a run. The repository with the smallest number is next.
            table.column("turn", .integer).notNull().defaults(to: 0)
        }
        try db.create(table: "refCursor", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("ref", .text).notNull()
            table.column("commitID", .text).notNull().check(sql: "length(commitID) IN (40, 64)")
            table.primaryKey(["repository", "ref"])
        }
    }

    private static func createRun(_ db: Database) throws {
        try db.create(table: "run") { table in
            table.autoIncrementedPrimaryKey("id")
            table.column("repository", .integer).notNull().references("repository")
            table.column("workflow", .text).notNull()
            table.column("event", .text).notNull()
            table.column("ref", .text).notNull()
            table.column("branch", .text)
            table.column("head", .text).notNull().check(sql: "length(head) IN (40, 64)")
            table.column("nonce", .text).notNull()
            table.column("subject", .text).notNull()
            table.column("changeName", .text)
            table.column("title", .text)
            // Whether older runs of the subject must end before this one starts.
            table.column("isSerial", .boolean).notNull()
            table.column("request", .text).notNull()
            table.column("state", .text).notNull().check(sql: "state IN ('queued', 'running', 'ended')")
            table.column("attempt", .integer).notNull().check(sql: "attempt >= 0").defaults(to: 0)
            table.column("verdict", .text)
            table.column("reason", .text)
            table.column("createdAt", .integer).notNull()
            table.column("startedAt", .integer)
            table.column("endedAt", .integer)
            table.column("rerunOf", .integer)
            table.column("supersededBy", .integer)
            table.column("testedCommit", .text)
            for status in ["passed", "failed", "skipped", "expectedFailures"] {
                table.column("tests_" + status, .integer).notNull().defaults(to: 0)
            }
            table.column("isArchived", .boolean).notNull().defaults(to: false)
            table.column("archivedBytes", .integer).notNull().defaults(to: 0)
            table.uniqueKey(["repository", "workflow", "ref", "head", "nonce"])
            table.check(sql: "(state = 'ended') = (verdict IS NOT NULL)")
            table.check(sql: "(state = 'ended') = (endedAt IS NOT NULL)")
            table.check(sql: "state <> 'running' OR (attempt > 0 AND startedAt IS NOT NULL)")
            table.check(sql: "NOT isArchived OR state = 'ended'")
        }
        // Few runs are live, so these indexes stay small however long the history is.
        try db.execute(
            sql: """
                CREATE INDEX run_queued ON run (repository, id) WHERE state = 'queued';
                CREATE INDEX run_live ON run (repository, workflow, subject, id) WHERE state <> 'ended';
                CREATE INDEX run_state ON run (state, id) WHERE state <> 'ended';
                CREATE INDEX run_unarchived ON run (id) WHERE state = 'ended' AND NOT isArchived;
                CREATE INDEX run_repository ON run (repository, id);
                CREATE INDEX run_workflow ON run (repository, workflow, id);
                CREATE INDEX run_anyWorkflow ON run (workflow, id);
                CREATE INDEX run_change ON run (changeName, repository, id) WHERE changeName IS NOT NULL;
                CREATE INDEX run_branch ON run (repository, branch, id);
                CREATE INDEX run_anyBranch ON run (branch, id);
                CREATE INDEX run_verdict ON run (verdict, id) WHERE verdict IS NOT NULL;
                CREATE INDEX run_createdAt ON run (createdAt);
                CREATE INDEX run_head ON run (head);
                CREATE INDEX run_testedCommit ON run (testedCommit) WHERE testedCommit IS NOT NULL;
                """)
    }

    private static func createStep(_ db: Database) throws {
        try db.create(table: "step", options: .withoutRowID) { table in
            table.column("run", .integer).notNull().references("run", onDelete: .cascade)
            table.column("position", .integer).notNull()
            table.column("name", .text).notNull()
            table.column("status", .text).notNull()
            table.column("reason", .text)
            table.column("duration", .double)
            table.column("attempts", .integer).notNull()
            table.primaryKey(["run", "position"])
        }
    }

    /// Names and files are the same in every run. Stored once, a million tests take a tenth of the space.
    private static func createTest(_ db: Database) throws {
        try db.create(table: "testCase") { table in
            table.primaryKey("id", .integer)
            table.column("suite", .text).notNull()
            table.column("name", .text).notNull()
            table.uniqueKey(["suite", "name"])
        }
        try db.create(table: "testFile") { table in
            table.primaryKey("id", .integer)
            table.column("path", .text).notNull().unique()
        }
        try db.create(table: "test", options: .withoutRowID) { table in
            table.column("run", .integer).notNull().references("run", onDelete: .cascade)
            // In the order of the result files, because a file may contain a test twice.
            table.column("position", .integer).notNull()
            table.column("testCase", .integer).notNull().references("testCase")
            table.column("attempt", .integer).notNull()
            table.column("status", .text).notNull()
            table.column("duration", .double)
            table.column("file", .integer).references("testFile")
            table.column("line", .integer)
            table.column("message", .text)
            table.primaryKey(["run", "position"])
        }
        try db.create(index: "test_case", on: "test", columns: ["testCase", "run"])
    }

    private static func createArtifact(_ db: Database) throws {
        try db.create(table: "artifact", options: .withoutRowID) { table in
            table.column("run", .integer).notNull().references("run", onDelete: .cascade)
            table.column("step", .text).notNull()
            table.column("path", .text).notNull()
            table.column("bytes", .integer).notNull().check(sql: "bytes >= 0")
            table.column("sha256", .text).notNull().check(sql: "length(sha256) = 64")
            table.column("isExecutable", .boolean).notNull()
            table.primaryKey(["run", "step", "path"])
        }
        try db.create(index: "artifact_sha256", on: "artifact", columns: ["sha256"])
    }

    private static func createChange(_ db: Database) throws {
        try db.create(table: "change", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("name", .text).notNull()
            table.column("target", .text).notNull()
            table.column("head", .text).notNull()
            table.column("targetCommit", .text)
            table.column("state", .text).notNull()
                .check(sql: "state IN ('open', 'conflict', 'stale', 'landed', 'closed')")
            table.column("title", .text).notNull()
            table.column("author", .text).notNull()
            table.column("landedCommit", .text)
            table.column("recognition", .text)
            table.column("updatedAt", .integer).notNull()
            table.primaryKey(["repository", "name"])
            table.check(sql: "(state = 'landed') = (landedCommit IS NOT NULL)")
        }
        try db.create(index: "change_state", on: "change", columns: ["repository", "state"])
    }

    /// Requests for approval. A row without a decision is open. A queued run that waits has a row without a step; a
    /// running run has a row for each step that waits.
    private static func createApproval(_ db: Database) throws {
        try db.alter(table: "run") { table in table.add(column: "trust", .text) }
        try db.create(table: "approval") { table in
            table.primaryKey("id", .integer)
            table.column("run", .integer).notNull().references("run", onDelete: .cascade)
            // Empty for the run itself.
            table.column("step", .text).notNull()
            table.column("why", .text).notNull()
            table.column("head", .text).notNull()
            table.column("definition", .text).notNull()
            table.column("binding", .text).notNull()
            table.column("askedAt", .integer).notNull()
            table.column("decision", .text).check(sql: "decision IN ('approved', 'rejected')")
            table.column("decidedBy", .text)
            table.column("decidedUser", .integer)
            table.column("decidedAt", .integer)
            table.column("comment", .text)
            table.uniqueKey(["run", "step", "binding"])
            table.check(sql: "(decision IS NULL) = (decidedBy IS NULL)")
            table.check(sql: "(decision IS NULL) = (decidedAt IS NULL)")
        }
        try db.execute(
            sql: """
                CREATE INDEX approval_open ON approval (run) WHERE decision IS NULL;
                CREATE INDEX approval_binding ON approval (binding) WHERE decision = 'approved';
                """)
    }
}
