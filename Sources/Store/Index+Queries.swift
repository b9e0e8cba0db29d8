public import Results
internal import Foundation
internal import GRDB
internal import Pipeline

extension Index {
    /// A run; nil if there is none with this number.
    public func run(_ id: RunID) async throws -> IndexedRun? {
        try await read { db in
            let row = try Row.fetchOne(db, sql: "\(Self.selectRun) WHERE run.id = ?", arguments: [id])
            guard let row, let summary = try Self.summaries([row], db).first else { return nil }
            let steps = try Row.fetchAll(
                db, sql: "SELECT * FROM step WHERE run = ? ORDER BY position", arguments: [id])
            return IndexedRun(
                summary: summary, request: try ArchiveJSON.decode(RunRequest.self, from: row["request"] as String),
                steps: steps.compactMap(Self.step), approvals: try Self.approvals(of: id, db))
        }
    }

    /// The runs that the filter selects, newest first.
    public func runs(_ filter: RunFilter = RunFilter()) async throws -> [RunSummary] {
        try await read { db in
            var (conditions, arguments) = Self.conditions(of: filter)
            let limit = max(0, filter.limit)
            if let verdicts = filter.verdicts {
                let (selection, values) = Self.selection(of: verdicts, conditions, arguments, limit)
                (conditions, arguments) = (["run.id IN (\(selection))"], values)
            }
            let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
            let rows = try Row.fetchAll(
                db, sql: "\(Self.selectRun) \(condition) ORDER BY run.id DESC LIMIT \(limit)",
                arguments: StatementArguments(arguments))
            return try Self.summaries(rows, db)
        }
    }

    /// SQL for what a filter demands beside the verdict, with its values.
    private static func conditions(of filter: RunFilter) -> ([String], [any DatabaseValueConvertible]) {
        var conditions: [String] = []
        var arguments: [any DatabaseValueConvertible] = []
        func require(_ condition: String, _ values: (any DatabaseValueConvertible)...) {
            conditions.append(condition)
            arguments += values
        }
        if let name = filter.repository {
            require("run.repository = (SELECT id FROM repository WHERE name = ?)", name)
        }
        // With a verdict, SQLite is to use the index of verdicts: see `selection`.
        let plus = filter.verdicts == nil ? "" : "+"
        if let workflow = filter.workflow { require("\(plus)run.workflow = ?", workflow) }
        if let change = filter.change { require("run.changeName = ?", change) }
        if let branch = filter.branch { require("\(plus)run.branch = ?", branch) }
        if let prefix = filter.commitPrefix?.lowercased() {
            // A range, for which SQLite can use an index: every hexadecimal digit sorts before "g".
            require(
                "(run.head >= ? AND run.head < ? OR run.testedCommit >= ? AND run.testedCommit < ?)",
                prefix, prefix + "g", prefix, prefix + "g")
        }
        if let states = filter.states {
            require("run.state IN (\(Self.list(states)))")
            // In this form SQLite uses the index of live runs, which is small.
            if !states.contains(.ended) { require("run.state <> 'ended'") }
        }
        if filter.hidesUpkeep { require("NOT run.isUpkeep") }
        if let since = filter.since { require("run.createdAt >= ?", since.milliseconds) }
        if let before = filter.before { require("run.id < ?", before) }
        return (conditions, arguments)
    }

    /// SQL for the numbers of the newest runs with one of some verdicts.
    ///
    /// Each verdict is searched alone, because SQLite would sort all runs of several. A run that waits for an approval
    /// has no verdict yet, but people search for it as "needs approval".
    private static func selection(
        of verdicts: Set<Verdict>, _ conditions: [String], _ arguments: [any DatabaseValueConvertible], _ limit: Int
    ) -> (String, [any DatabaseValueConvertible]) {
        var parts = verdicts.map { "run.verdict = '\($0.rawValue)'" }.sorted()
        if verdicts.contains(.needsApproval) {
            parts.append("run.id IN (SELECT run FROM approval WHERE decision IS NULL) AND \(Self.heldFor) IS NOT NULL")
        }
        guard !parts.isEmpty else { return ("NULL", []) }
        let selection = parts.map { part in
            let all = ([part] + conditions).joined(separator: " AND ")
            return "SELECT id FROM (SELECT run.id FROM run WHERE \(all) ORDER BY run.id DESC LIMIT \(limit))"
        }
        return (selection.joined(separator: " UNION ALL "), parts.flatMap { _ in arguments })
    }

    /// The newest ended run that shows the results of tests on the target: it passed, failed or was flaky.
    ///
    /// - Parameter workflow: Only runs of this workflow; nil: any run with tests.
    public func latestRun(
        repository: String, workflow: String?, on target: TestedTarget
    ) async throws -> RunSummary? {
        try await read { db in
            let (condition, repositoryColumn, value) =
                switch target {
                case .commit(let commit):
                    // The plus keeps SQLite from searching by repository, which nearly all rows share.
                    (
                        """
                        (run.testedCommit = ?1 OR run.testedCommit IS NULL AND run.head = ?1 AND run.changeName IS NULL)
                        """, "+run.repository", commit
                    )
                // Newest first, by `run_branch`: the search ends at the first matching row.
                case .branch(let branch): ("run.branch = ?1 AND run.changeName IS NULL", "run.repository", branch)
                }
            let row = try Row.fetchOne(
                db.cachedStatement(
                    sql: """
                        \(Self.selectRun)
                        WHERE \(condition) AND \(repositoryColumn) = (SELECT id FROM repository WHERE name = ?2)
                            AND run.verdict IN ('passed', 'failed', 'flaky') AND NOT \(Self.isOfAgent)
                            AND \(Self.isWhole)
                            AND CASE
                                WHEN ?3 IS NULL THEN run.tests_passed + run.tests_failed > 0 ELSE run.workflow = ?3
                            END
                        ORDER BY run.id DESC LIMIT 1
                        """), arguments: [value, repository, workflow])
            return try row.map { try Self.summaries([$0], db) }?.first
        }
    }

    /// Every try of every test of a run, in the order of its result files. Only the archive has the details.
    public func tests(of run: RunID) async throws -> [TestResult] {
        try await read { db in
            let rows = try Row.fetchCursor(
                db, sql: "\(Self.selectTest) WHERE test.run = ? ORDER BY test.position", arguments: [run])
            var tests: [TestResult] = []
            while let row = try rows.next() {
                if let test = Self.test(row) { tests.append(test) }
            }
            return tests
        }
    }

    /// Ended runs whose report is not in the archive, oldest first: they never started, or were interrupted.
    ///
    /// ``Report/init(unstarted:findings:reproduce:box:)`` makes their report.
    public func endedWithoutReport(limit: Int = 100) async throws -> [IndexedRun] {
        let ids = try await read { db in
            try RunID.fetchAll(
                db, sql: "SELECT id FROM run WHERE state = 'ended' AND NOT isArchived ORDER BY id LIMIT ?",
                arguments: [limit])
        }
        var runs: [IndexedRun] = []
        for id in ids {
            if let run = try await run(id) { runs.append(run) }
        }
        return runs
    }

    /// The runs with an artifact of this digest, oldest first.
    public func runs(withArtifact sha256: String) async throws -> [RunID] {
        try await read { db in
            try RunID.fetchAll(
                db, sql: "SELECT DISTINCT run FROM artifact WHERE sha256 = ? ORDER BY run", arguments: [sha256])
        }
    }

    static let selectRun = """
        SELECT run.*, repository.name AS repositoryName, \(heldFor) AS heldFor FROM run JOIN repository ON repository.id = run.repository
        """

    /// SQL: whether a run had all its workflow's steps. Partial runs lack tests without having lost them, and may be
    /// faster.
    static let isWhole = """
        (json_extract(run.request, '$.onlySteps') IS NULL AND json_extract(run.request, '$.onlyTests') IS NULL)
        """

    static let selectTest = """
        SELECT testCase.suite, testCase.name, test.status, test.duration, test.message, testFile.path, test.line,
            test.attempt, test.run, run.workflow, run.head, run.branch, run.changeName, run.endedAt,
            CASE WHEN run.isUpkeep THEN json_extract(run.request, '$.upkeep') END AS upkeep
        FROM test JOIN run ON run.id = test.run JOIN testCase ON testCase.id = test.testCase LEFT JOIN testFile ON testFile.id = test.file
        """

    private static func list<Value: RawRepresentable<String>>(_ values: Set<Value>) -> String {
        values.map { "'\($0.rawValue)'" }.sorted().joined(separator: ",")
    }

    static func summaries(_ rows: [Row], _ db: Database) throws -> [RunSummary] {
        let counts = try stepCounts(rows.map { $0["id"] }, db)
        let names = rows.first.map { Array($0.columnNames) } ?? []
        let places = Dictionary(zip(names, names.indices)) { first, _ in first }
        return rows.compactMap { row in
            let row = PlacedRow(row: row, places: places)
            guard let state = RunState(rawValue: row["state"]), let event = Trigger.Event(rawValue: row["event"]) else {
                return nil
            }
            let tests = TestCounts(
                passed: row["tests_passed"], failed: row["tests_failed"], skipped: row["tests_skipped"],
                expectedFailures: row["tests_expectedFailures"])
            var summary = RunSummary(
                id: row["id"], repository: row["repositoryName"], workflow: row["workflow"], event: event,
                ref: row["ref"], branch: row["branch"], head: row["head"], testedCommit: row["testedCommit"],
                change: row["changeName"], title: row["title"], state: state,
                verdict: (row["verdict"] as String?).flatMap(Verdict.init(rawValue:)), reason: row["reason"],
                attempt: row["attempt"], createdAt: Date(milliseconds: row["createdAt"]),
                startedAt: (row["startedAt"] as Int64?).map(Date.init(milliseconds:)),
                endedAt: (row["endedAt"] as Int64?).map(Date.init(milliseconds:)), rerunOf: row["rerunOf"],
                supersededBy: row["supersededBy"], testCounts: tests, stepCounts: counts[row["id"]] ?? StepCounts(),
                isArchived: row["isArchived"], trust: (row["trust"] as String?).flatMap(Trust.init(rawValue:)),
                heldFor: row["heldFor"])
            summary.fixState = (row["fixState"] as String?).map(FixSeries.State.init(rawValue:))
            let isSpecial = row["isUpkeep"] == true || row["fixOf"] as RunID? != nil || row["task"] as TaskID? != nil
            let request = isSpecial ? try? ArchiveJSON.decode(RunRequest.self, from: row["request"] as String) : nil
            if row["isUpkeep"] == true { summary.upkeep = request?.background }
            if row["fixOf"] as RunID? != nil { summary.fix = request?.fix }
            if row["task"] as TaskID? != nil { summary.task = request?.task }
            return summary
        }
    }

    private static func stepCounts(_ ids: [RunID], _ db: Database) throws -> [RunID: StepCounts] {
        let list = ids.map(String.init).joined(separator: ",")
        let rows = try Row.fetchAll(
            db, sql: "SELECT run, status, count(*) AS count FROM step WHERE run IN (\(list)) GROUP BY run, status")
        var counts: [RunID: StepCounts] = [:]
        for row in rows {
            let count: Int = row["count"]
            switch StepStatus(rawValue: row["status"]) {
            case .passed: counts[row["run"], default: StepCounts()].passed += count
            case .failed, .timedOut, .infrastructure: counts[row["run"], default: StepCounts()].failed += count
            case .skipped: counts[row["run"], default: StepCounts()].skipped += count
            case .cancelled: counts[row["run"], default: StepCounts()].cancelled += count
            case .waiting, .running, nil: break
            }
        }
        return counts
    }

    private static func step(_ row: Row) -> StepSummary? {
        guard let status = StepStatus(rawValue: row["status"]) else { return nil }
        return StepSummary(
            name: row["name"], status: status, reason: row["reason"], duration: row["duration"],
            attempts: row["attempts"])
    }

    static func test(_ row: Row) -> TestResult? {
        // Columns are read by position, because a run may have a hundred thousand rows and looking up a name costs more
        // than reading the value.
        guard let status = TestResult.Status(rawValue: row[2]) else { return nil }
        return TestResult(
            suite: row[0], name: row[1], status: status, duration: row[3], message: row[4], file: row[5], line: row[6],
            attempt: row[7])
    }
}

/// A row of ``Index/selectRun``, whose columns are found in a table. GRDB would compare their names one by one.
private struct PlacedRow {
    let row: Row
    let places: [String: Int]

    subscript<Value: DatabaseValueConvertible>(_ name: String) -> Value { row[places[name] ?? -1] }
}
