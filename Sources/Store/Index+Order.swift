public import Results
internal import Foundation
internal import GRDB
internal import Pipeline

/// What earlier runs say about which steps and tests are likely to fail.
extension Index {
    /// The number of a workflow's runs that are considered.
    private static let lookBack = 50
    /// The most rows of steps, and of tries of tests, that are read.
    private static let mostSteps = 5_000
    private static let mostTests = 20_000

    /// The results of a workflow's steps in its last runs, and which steps failed on this change.
    public func stepHistory(repository: String, workflow: String, change: String?) async throws -> StepHistory {
        try await read { db in
            guard let id = try Self.orderRepository(repository, db) else { return StepHistory() }
            let runs = try Self.lastRuns(of: workflow, in: id, db).map(\.id)
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT name, status, duration FROM step WHERE run IN (\(Self.list(runs)))
                        AND status IN ('passed', 'failed', 'timedOut') AND attempts > 0 ORDER BY run DESC LIMIT \(Self.mostSteps)
                    """)
            var history = StepHistory()
            var times: [String: [Double]] = [:]
            while let row = try rows.next() {
                let (name, status): (String, String) = (row[0], row[1])
                history.steps[name, default: StepHistory.Record()].runs += 1
                if status != "passed" { history.steps[name, default: StepHistory.Record()].failures += 1 }
                if let time = row[2] as Double? { times[name, default: []].append(time) }
            }
            for (name, times) in times { history.steps[name]?.seconds = times.sorted()[times.count / 2] }
            guard let change else { return history }
            let ownRuns = try Self.runs(of: change, workflow, in: id, db)
            let failed = try String.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT name FROM step WHERE run IN (\(Self.list(ownRuns)))
                        AND status IN ('failed', 'timedOut')
                    """)
            for name in failed { history.steps[name, default: StepHistory.Record()].failedOnChange = true }
            return history
        }
    }

    /// Tests of a workflow that failed on this change, that are near the changed files, or that failed in its last
    /// runs.
    public func testCandidates(
        repository: String, workflow: String, change: String?, nearness: TestNearness
    ) async throws -> TestCandidates {
        try await read { db in
            guard let id = try Self.orderRepository(repository, db) else { return TestCandidates() }
            let runs = try Self.lastRuns(of: workflow, in: id, db)
            var candidates = TestCandidates(runs: runs.count)
            if let change {
                candidates.failedBefore = try Self.failedTests(
                    in: Self.runs(of: change, workflow, in: id, db), db)
            }
            candidates.failing = try Self.failingTests(in: runs.filter { $0.failures > 0 }.map(\.id), db)
            // A run that ended early has few tests, so a run that had most of them is used.
            let most = runs.map(\.tests).max() ?? 0
            candidates.knowsTests = most > 0
            if !nearness.isEmpty, most > 0, let newest = runs.first(where: { $0.tests * 2 >= most }) {
                candidates.near = try Self.tests(of: newest.id, near: nearness, db)
            }
            return candidates
        }
    }

    // SQLite turns an empty list into a constant, and then can't use the index named in the queries below.

    private static func failedTests(in runs: [RunID], _ db: Database) throws -> [KnownTest] {
        guard !runs.isEmpty else { return [] }
        return try Row.fetchAll(
            db,
            sql: """
                \(selectKnownTest("INDEXED BY test_failure")) WHERE test.run IN (\(list(runs)))
                    AND test.status IN ('failed', 'errored') ORDER BY test.run DESC, test.position LIMIT 2000
                """
        ).map(knownTest)
    }

    private static func failingTests(in runs: [RunID], _ db: Database) throws -> [TestCandidates.Candidate] {
        guard !runs.isEmpty else { return [] }
        return try Row.fetchAll(
            db,
            sql: """
                SELECT testCase.suite, testCase.name, testFile.path, avg(test.duration),
                    count(DISTINCT test.run) AS failures
                FROM test INDEXED BY test_failure JOIN testCase ON testCase.id = test.testCase LEFT JOIN testFile ON testFile.id = test.file
                WHERE test.run IN (\(list(runs)))
                    AND test.status IN ('failed', 'errored')
                GROUP BY test.testCase ORDER BY failures DESC, test.testCase LIMIT 1000
                """
        ).map { TestCandidates.Candidate(knownTest($0), failures: $0["failures"]) }
    }

    private static func tests(
        of run: RunID, near nearness: TestNearness, _ db: Database
    ) throws -> [TestCandidates.Candidate] {
        var near: [TestCandidates.Candidate] = []
        var distances: [String: Int?] = [:]
        let rows = try Row.fetchCursor(
            db,
            sql: """
                \(selectKnownTest()) WHERE test.run = ? AND test.attempt = 1
                ORDER BY test.position LIMIT \(mostTests)
                """, arguments: [run])
        while let row = try rows.next() {
            let file = row[2] as String?
            let place = file ?? "suite " + (row[0] as String)
            let distance: Int?
            if let answer = distances[place] {
                distance = answer
            } else {
                distance = nearness.distance(file: file, suite: row[0])
                distances[place] = .some(distance)
            }
            if let distance { near.append(.init(knownTest(row), distance: distance)) }
        }
        return near
    }

    private struct LastRun {
        var id: RunID
        var tests: Int
        var failures: Int
    }

    private static func orderRepository(_ name: String, _ db: Database) throws -> Int64? {
        try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM repository WHERE name = ?"), arguments: [name])
    }

    /// Newest first, without runs that say nothing about the code.
    private static func lastRuns(of workflow: String, in repository: Int64, _ db: Database) throws -> [LastRun] {
        try Row.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id, tests_passed + tests_failed AS tests, tests_failed FROM run
                    WHERE repository = ? AND workflow = ? AND +verdict IN ('passed', 'failed', 'flaky')
                        AND json_extract(run.request, '$.onlyTests') IS NULL
                    ORDER BY id DESC LIMIT \(lookBack)
                    """), arguments: [repository, workflow]
        ).map { LastRun(id: $0[0], tests: $0[1], failures: $0[2]) }
    }

    private static func runs(
        of change: String, _ workflow: String, in repository: Int64, _ db: Database
    ) throws -> [RunID] {
        try RunID.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT id FROM run WHERE changeName = ? AND repository = ? AND workflow = ?
                        AND +verdict IN ('failed', 'flaky') ORDER BY id DESC LIMIT 20
                    """), arguments: [change, repository, workflow])
    }

    /// - Parameter hint: The SQLite index to use. Without statistics SQLite would use the primary key, and read passed
    ///   tests, too.
    private static func selectKnownTest(_ hint: String = "") -> String {
        """
        SELECT testCase.suite, testCase.name, testFile.path, test.duration
        FROM test \(hint) JOIN testCase ON testCase.id = test.testCase LEFT JOIN testFile ON testFile.id = test.file
        """
    }

    private static func knownTest(_ row: Row) -> KnownTest {
        KnownTest(suite: row[0], name: row[1], file: row[2], seconds: row[3])
    }

    /// Our own numbers, which need no quoting.
    private static func list(_ runs: [RunID]) -> String { runs.map(String.init).joined(separator: ",") }
}
