public import Results
internal import Foundation
internal import GRDB

/// Results of tests across runs.
extension Index {
    /// Adds the tested tree, so that runs of the same tree can be found; and an index of failures, which are few, by
    /// run.
    static func createHistory(_ db: Database) throws {
        try db.alter(table: "run") { table in table.add(column: "testedTree", .text) }
        try db.execute(
            sql: "CREATE INDEX test_failure ON test (run, testCase) WHERE status IN ('failed', 'errored')")
    }

    /// The results of a test, newest run first.
    public func testHistory(suite: String, name: String, _ filter: TestFilter) async throws -> [TestAppearance] {
        try await read { db in
            let repository =
                filter.repository == nil ? "" : "AND run.repository = (SELECT id FROM repository WHERE name = ?3)"
            let workflow = filter.workflow == nil ? "" : "AND run.workflow = ?4"
            let rows = try Row.fetchAll(
                db,
                sql: """
                    \(Self.selectTest)
                    WHERE test.testCase = (SELECT id FROM testCase WHERE suite = ?1 AND name = ?2)
                        \(repository) \(workflow)
                    ORDER BY test.run DESC, test.position LIMIT ?5
                    """,
                arguments: [suite, name, filter.repository ?? "", filter.workflow ?? "", max(filter.limit, 0)])
            return rows.compactMap(Self.appearance)
        }
    }

    private static func appearance(_ row: Row) -> TestAppearance? {
        guard let result = test(row) else { return nil }
        var found = TestAppearance(
            run: row["run"], workflow: row["workflow"], head: row["head"], branch: row["branch"],
            change: row["changeName"], endedAt: (row["endedAt"] as Int64?).map(Date.init(milliseconds:)), result: result
        )
        found.upkeep = (row["upkeep"] as String?).flatMap(BackgroundRun.init(rawValue:))
        return found
    }

    /// The tests with this name, which is suite and name joined as in ``TestResult/id``; otherwise tests whose name
    /// contains `text`.
    ///
    /// - Returns: At most `limit` tests, sorted.
    public func testNames(matching text: String, limit: Int = 20) async throws -> [(suite: String, name: String)] {
        try await read { db in
            var exact: [(suite: String, name: String)] = []
            let bytes = Array(text.utf8)
            let ends = [nil] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "/") }.map { Optional($0) }
            for end in ends {
                let suite = end.map { String(decoding: bytes[..<$0], as: UTF8.self) } ?? ""
                let name = end.map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) } ?? text
                let isThere = try Bool.fetchOne(
                    db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM testCase WHERE suite = ? AND name = ?)"),
                    arguments: [suite, name])
                if isThere == true { exact.append((suite, name)) }
            }
            if !exact.isEmpty { return exact }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT suite, name FROM testCase
                    WHERE instr(lower(CASE WHEN suite = '' THEN name ELSE suite || '/' || name END), lower(?)) > 0
                    ORDER BY suite, name LIMIT ?
                    """, arguments: [text, max(limit, 0)])
            return rows.map { ($0[0], $0[1]) }
        }
    }

    /// Tests that failed and passed on the same tree within the newest runs, the highest rate first.
    ///
    /// The same tree may occur in several runs: a retry, a rerun, a rebase onto the same files, and the run after the
    /// merge. Runs that were recorded before trees were kept count by their commit.
    ///
    /// - Parameter plotted: How many of the first tests get a plot of their newest 40 results in that repository and
    ///   workflow.
    public func flakyTests(_ filter: TestFilter, plotted: Int = 0) async throws -> [FlakyTest] {
        try await read { db in
            let rows = try Row.fetchAll(
                db, sql: Self.selectFlakyTests(filter),
                arguments: [filter.repository ?? "", filter.workflow ?? "", max(filter.limit, 0)])
            var tests = rows.map { row in
                FlakyTest(
                    suite: row["suite"], name: row["name"], flips: row["flips"], runs: row["runs"],
                    trees: row["trees"], lastRun: row["lastRun"], lastWorkflow: row["workflow"],
                    lastEndedAt: (row["endedAt"] as Int64?).map(Date.init(milliseconds:)), lastMessage: row["message"],
                    firstRun: row["firstRun"],
                    firstEndedAt: (row["firstEndedAt"] as Int64?).map(Date.init(milliseconds:)))
            }.sorted { ($1.rate, $1.flips, $0.id) < ($0.rate, $0.flips, $1.id) }
            var newest = filter
            newest.limit = 40
            for place in tests.indices.prefix(max(plotted, 0)) {
                let trend = try Self.trends([(tests[place].suite, tests[place].name)], newest, db).first
                tests[place].plot = trend.map(Sparkline.results)
            }
            return tests
        }
    }

    private static func selectFlakyTests(_ filter: TestFilter) -> String {
        let repository =
            filter.repository == nil ? "" : "AND run.repository = (SELECT id FROM repository WHERE name = ?1)"
        let workflow = filter.workflow == nil ? "" : "AND run.workflow = ?2"
        // Found from the test's own results, which are fewer than the runs; but not if the workflow's runs are few
        // among many others.
        let runs =
            filter.workflow == nil
            ? """
            (SELECT count(DISTINCT test.run) FROM test INDEXED BY test_case
                CROSS JOIN latest ON latest.id = test.run AND latest.repository = total.repository
                WHERE test.testCase = total.testCase AND test.run >= (SELECT min(id) FROM latest))
            """
            : """
            (SELECT count(*) FROM latest WHERE latest.repository = total.repository AND EXISTS (
                SELECT 1 FROM test INDEXED BY test_case
                WHERE test.testCase = total.testCase AND test.run = latest.id))
            """
        // Failures are few and have an index of their own. Each is compared with the passed results of its tree,
        // and carries the facts of its runs along, because finding them again would take longer than the rest. The
        // number of runs is counted only for the remaining tests.
        return """
            WITH latest AS MATERIALIZED (
                SELECT id, repository, coalesce(testedTree, testedCommit, head) AS tree FROM run
                WHERE state = 'ended' AND tests_passed + tests_failed > 0 \(repository) \(workflow)
                ORDER BY id DESC LIMIT ?3
            ), shared AS MATERIALIZED (
                SELECT *, json_group_array(id) OVER (PARTITION BY repository, tree) AS runs FROM latest
            ), failure AS MATERIALIZED (
                SELECT DISTINCT test.testCase, shared.id AS run, shared.repository, shared.tree, shared.runs
                FROM shared CROSS JOIN test INDEXED BY test_failure
                    ON test.run = shared.id AND test.status IN ('failed', 'errored')
            ), flip AS MATERIALIZED (
                SELECT DISTINCT failure.testCase, failure.run, failure.repository, failure.tree FROM failure
                CROSS JOIN json_each(failure.runs) AS other
                CROSS JOIN test INDEXED BY test_case
                    ON test.testCase = failure.testCase AND test.run = other.value AND test.status = 'passed'
            ), total AS MATERIALIZED (
                SELECT testCase, repository, count(*) AS flips, count(DISTINCT tree) AS trees, max(run) AS lastRun,
                    min(run) AS firstRun
                FROM flip GROUP BY testCase, repository
            )
            SELECT testCase.suite, testCase.name, total.flips, total.trees, total.lastRun, total.firstRun, run.workflow, run.endedAt,
                (SELECT endedAt FROM run AS oldest WHERE oldest.id = total.firstRun) AS firstEndedAt,
                (SELECT message FROM test WHERE test.testCase = total.testCase AND test.run = total.lastRun
                    AND test.status IN ('failed', 'errored') ORDER BY position LIMIT 1) AS message,
                \(runs) AS runs
            FROM total JOIN testCase ON testCase.id = total.testCase JOIN run ON run.id = total.lastRun
            """
    }
}
