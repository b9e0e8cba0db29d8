internal import Engine
internal import GRDB

/// Tests across runs, for plots.
extension Index {
    /// Results that are read for the slowest tests, at most.
    static let trendRows = 1_000_000

    /// How tests came out in the newest runs that have them.
    ///
    /// - Parameter filter: Its limit is of results of each test.
    public func trends(_ tests: [(suite: String, name: String)], _ filter: TestFilter) async throws -> [TestTrend] {
        var trends: [TestTrend] = []
        for (suite, name) in tests {
            let appearances = try await testHistory(suite: suite, name: name, filter)
            if !appearances.isEmpty { trends.append(TestTrend(suite: suite, name: name, appearances)) }
        }
        return trends
    }

    /// The tests that take longest in the newest runs that had tests, by the middle of their durations.
    ///
    /// - Parameters:
    ///   - filter: Its limit is of runs.
    ///   - count: Of tests, at most.
    public func slowestTests(_ filter: TestFilter, count: Int) async throws -> [SlowTest] {
        let (slow, total) = try await read { db in try Self.slowest(filter, count, db) }
        var limited = filter
        limited.limit = 60
        var tests: [SlowTest] = []
        for one in slow {
            let trend = try await trends([(one.suite, one.name)], limited)
            guard let trend = trend.first else { continue }
            tests.append(
                SlowTest(
                    trend: trend, median: one.median, worst: one.worst, share: total > 0 ? one.total / total : 0))
        }
        return tests
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
