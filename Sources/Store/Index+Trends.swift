public import Results
internal import GRDB

/// Results of tests across runs, for plots.
extension Index {
    /// The most results that are read to find the slowest tests.
    static let trendRows = 1_000_000

    /// The results of tests in the newest runs that have them.
    ///
    /// - Parameter filter: Its limit is the number of results for each test.
    public func trends(_ tests: [(suite: String, name: String)], _ filter: TestFilter) async throws -> [TestTrend] {
        try await read { db in try Self.trends(tests, filter, db) }
    }

    static func trends(_ tests: [(suite: String, name: String)], _ filter: TestFilter, _ db: Database) throws
        -> [TestTrend]
    {
        let isNarrow = filter.repository != nil || filter.workflow != nil
        let repository =
            filter.repository == nil ? "" : "AND run.repository = (SELECT id FROM repository WHERE name = ?3)"
        let workflow = filter.workflow == nil ? "" : "AND run.workflow = ?4"
        // One query for all tests, without the columns that only a history needs.
        let newest = try db.cachedStatement(
            sql: """
                SELECT test.run, test.status, test.attempt, test.duration
                FROM test \(isNarrow ? "JOIN run ON run.id = test.run" : "")
                WHERE test.testCase = (SELECT id FROM testCase WHERE suite = ?1 AND name = ?2)
                    \(repository) \(workflow)
                ORDER BY test.run DESC, test.position LIMIT ?5
                """)
        return try tests.compactMap { suite, name in
            let rows = try Row.fetchCursor(
                newest,
                arguments: [suite, name, filter.repository ?? "", filter.workflow ?? "", max(filter.limit, 0)])
            var tries: [TestTrend.Try] = []
            while let row = try rows.next() {
                guard let status = TestResult.Status(rawValue: row[1]) else { continue }
                tries.append(TestTrend.Try(run: row[0], status: status, attempt: row[2], duration: row[3]))
            }
            return tries.isEmpty ? nil : TestTrend(suite: suite, name: name, newestFirst: tries)
        }
    }

    /// The tests with the longest median duration in the newest runs that had tests.
    ///
    /// - Parameters:
    ///   - filter: Its limit is the number of runs.
    ///   - count: The most tests.
    public func slowestTests(_ filter: TestFilter, count: Int) async throws -> [SlowTest] {
        var limited = filter
        limited.limit = Sparkline.limit
        return try await read { [limited] db in
            let (slow, total) = try Self.slowest(filter, count, db)
            return try slow.compactMap { one in
                try Self.trends([(one.suite, one.name)], limited, db).first.map { trend in
                    SlowTest(
                        trend: trend, median: one.median, worst: one.worst, share: total > 0 ? one.total / total : 0)
                }
            }
        }
    }

    private struct Slow: Sendable {
        var suite = ""
        var name = ""
        var median: Double
        var worst: Double
        var total: Double
    }

    private static func slowest(_ filter: TestFilter, _ count: Int, _ db: Database) throws -> ([Slow], Double) {
        let repository =
            filter.repository == nil ? "" : "AND run.repository = (SELECT id FROM repository WHERE name = ?1)"
        let workflow = filter.workflow == nil ? "" : "AND run.workflow = ?2"
        let rows = try Row.fetchCursor(
            db,
            sql: """
                WITH latest AS MATERIALIZED (
                    SELECT id FROM run WHERE state = 'ended' AND tests_passed + tests_failed > 0 \(repository) \(workflow)
                    ORDER BY id DESC LIMIT ?3
                )
                SELECT test.testCase, test.duration FROM latest CROSS JOIN test ON test.run = latest.id
                WHERE test.duration IS NOT NULL AND test.status <> 'skipped' LIMIT \(trendRows)
                """,
            arguments: [filter.repository ?? "", filter.workflow ?? "", max(filter.limit, 0)])
        var durations: [Int64: [Double]] = [:]
        while let row = try rows.next() { durations[row[0], default: []].append(row[1]) }
        var all = 0.0
        var slow: [(id: Int64, value: Slow)] = []
        for (id, values) in durations {
            let total = values.reduce(0, +)
            all += total
            slow.append((id, Slow(median: TestTrend.median(values) ?? 0, worst: values.max() ?? 0, total: total)))
        }
        slow.sort { ($1.value.median, $0.id) < ($0.value.median, $1.id) }
        let chosen = try slow.prefix(max(0, count)).map { id, value in
            var value = value
            if let row = try Row.fetchOne(db, sql: "SELECT suite, name FROM testCase WHERE id = ?", arguments: [id]) {
                (value.suite, value.name) = (row[0], row[1])
            }
            return value
        }
        return (chosen, all)
    }
}
