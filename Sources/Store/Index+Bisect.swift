public import Results
internal import Foundation
internal import GRDB

/// Which commits broke tests, as far as that is known.
extension Index {
    /// The result of a test in one run.
    public struct TestSight: Sendable, Equatable {
        /// The run's number.
        public var run: RunID
        /// The commit that the run tested.
        public var testedCommit: String?
        /// The id of that commit's tree.
        public var testedTree: String?
        /// Whether its last try passed.
        public var hasPassed: Bool
    }

    static func createBisect(_ db: Database) throws {
        try db.create(table: "bisect", options: .withoutRowID) { table in
            table.column("repository", .integer).notNull().references("repository", onDelete: .cascade)
            table.column("workflow", .text).notNull()
            table.column("branch", .text).notNull()
            table.column("test", .text).notNull()
            table.column("answer", .text).notNull()
            table.primaryKey(["repository", "workflow", "branch", "test"])
        }
    }

    /// The runs of a workflow in which the test passed or failed, newest first. Runs in which it was skipped say
    /// nothing.
    public func sights(
        suite: String, name: String, repository: String, workflow: String, limit: Int = 20_000
    ) async throws -> [TestSight] {
        try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT test.run, run.testedCommit, run.testedTree, test.status FROM test JOIN run ON run.id = test.run
                    WHERE test.testCase = (SELECT id FROM testCase WHERE suite = ?1 AND name = ?2)
                        AND run.repository = (SELECT id FROM repository WHERE name = ?3) AND run.workflow = ?4
                        AND run.state = 'ended' AND test.status <> 'skipped'
                    ORDER BY test.run DESC, test.attempt DESC, test.position DESC LIMIT ?5
                    """, arguments: [suite, name, repository, workflow, limit])
            var seen: Set<RunID> = []
            return rows.compactMap { row in
                guard seen.insert(row["run"]).inserted else { return nil }
                let status = TestResult.Status(rawValue: row["status"])
                return TestSight(
                    run: row["run"], testedCommit: row["testedCommit"], testedTree: row["testedTree"],
                    hasPassed: status?.isFailure == false)
            }
        }
    }

    /// Records an answer for later reports.
    public func keep(_ answer: BisectAnswer) async throws {
        try await write { db in
            try db.execute(
                sql:
                    "INSERT OR REPLACE INTO bisect (repository, workflow, branch, test, answer) VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    try Self.repositoryID(answer.repository, db), answer.workflow, answer.branch, answer.test,
                    try ArchiveJSON.compactText(answer),
                ])
        }
    }

    /// The answers about a branch's broken tests, by test.
    public func answers(
        repository: String, workflow: String, branch: String
    ) async throws -> [String: BisectAnswer] {
        try await read { db in
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT test, answer FROM bisect
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND workflow = ? AND branch = ?
                    """, arguments: [repository, workflow, branch])
            return try Dictionary(
                rows.map { ($0["test"], try ArchiveJSON.decode(BisectAnswer.self, from: $0["answer"] as String)) },
                uniquingKeysWith: { $1 })
        }
    }

    /// Removes the answers about tests that pass again.
    public func forget(_ tests: [String], repository: String, workflow: String, branch: String) async throws {
        guard !tests.isEmpty else { return }
        try await write { db in
            for test in tests {
                try db.execute(
                    sql: """
                        DELETE FROM bisect WHERE repository = (SELECT id FROM repository WHERE name = ?)
                            AND workflow = ? AND branch = ? AND test = ?
                        """, arguments: [repository, workflow, branch, test])
            }
        }
    }
}
