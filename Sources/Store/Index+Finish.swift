public import Results
internal import Foundation
internal import GRDB

/// What a run records while it is running and when it ends.
extension Index {
    /// Gives a run its verdict, records the parts of the report that the store keeps, and keeps the run's files for the
    /// archive: one transaction.
    ///
    /// Repeating the call with the same verdict changes nothing.
    ///
    /// - Parameters:
    ///   - files: What `archive.git` is to have of the run. The bytes of files without content are on disk already.
    ///   - bytes: The sum of their sizes.
    /// - Throws: `.unknownRun`, or `.verdictGiven` if the run already has another verdict.
    package func finish(
        _ report: Report, tests: [TestResult], archiving files: [ArchiveFile], bytes: Int
    ) async throws {
        try await finish(report, tests: tests, files, bytes)
    }

    /// Gives a run its verdict without keeping files: the archive has its report already, or there is none.
    ///
    /// Repeating the call with the same verdict changes nothing.
    ///
    /// - Parameter archivedBytes: The size of the run's files in the archive. Nil if the run has no report;
    ///   ``endedWithoutReport(limit:)`` lists such runs, and a later call completes them.
    ///
    /// - Throws: `.unknownRun`, or `.verdictGiven` if the run already has another verdict.
    public func finish(_ report: Report, tests: [TestResult], archivedBytes: Int? = nil) async throws {
        try await finish(report, tests: tests, [], archivedBytes)
    }

    private func finish(
        _ report: Report, tests: [TestResult], _ files: [ArchiveFile], _ archivedBytes: Int?
    ) async throws {
        try await write { db in
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT verdict, isArchived FROM run WHERE id = ?"), arguments: [report.id])
            guard let row else { throw ArchiveError.unknownRun(report.id) }
            if let verdict = row["verdict"] as String? {
                guard verdict == report.verdict.rawValue else {
                    throw ArchiveError(
                        .verdictGiven,
                        "Run \(report.id) has the verdict \"\(verdict)\"; it can't become \"\(report.verdict.rawValue)\". "
                            + "`pipectl rerun \(report.id)` makes a new run of it.", run: report.id)
                }
                if row["isArchived"] { return }
            }
            try Self.record(report, tests, archivedBytes, db)
            try Self.queue(files, of: report.id, db)
        }
    }

    static func record(_ report: Report, _ tests: [TestResult], _ bytes: Int?, _ db: Database) throws {
        let counts = report.testCounts
        try db.cachedStatement(
            sql: """
                UPDATE run SET state = 'ended', verdict = ?, reason = ?, attempt = ?, startedAt = ?, endedAt = ?,
                    testedCommit = ?, testedTree = ?, tests_passed = ?, tests_failed = ?, tests_skipped = ?,
                    tests_expectedFailures = ?,
                    isArchived = ?, archivedBytes = ?, trust = coalesce(?, trust), fixState = ?, isFixDue = ?,
                    supersededBy = coalesce(?, supersededBy)
                WHERE id = ?
                """
        ).execute(arguments: [
            report.verdict.rawValue, report.reason, report.attempt, report.startedAt?.milliseconds,
            report.endedAt.milliseconds, report.testedCommit, report.testedTree, counts.passed, counts.failed,
            counts.skipped, counts.expectedFailures, bytes != nil, bytes ?? 0, report.trust?.rawValue,
            report.fixes?.state.rawValue, report.hasFixDue, report.supersededBy, report.id,
        ])
        try withdrawOpenApprovals(of: report.id, db)
        try setTaskDue(ofRun: report.id, db)
        // A request for approval stays open only if it is the run's verdict.
        for question in report.approvals ?? [] where question.decision == nil { try insert(question, report.id, db) }
        for table in ["step", "test", "artifact"] {
            try db.cachedStatement(sql: "DELETE FROM \(table) WHERE run = ?").execute(arguments: [report.id])
        }
        for (position, step) in report.steps.enumerated() { try insert(step, report.id, position: position, db) }
        try insert(tests, report.id, db)
        for artifact in report.artifacts {
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO artifact (run, step, path, bytes, sha256, isExecutable)
                    VALUES (?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                report.id, artifact.step, artifact.path, artifact.bytes, artifact.sha256, artifact.isExecutable,
            ])
        }
        for step in report.steps {
            guard let outputs = step.outputs else { continue }
            // Outputs are retained in the same way as artifacts. No artifact has an empty path.
            try db.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO artifact (run, step, path, bytes, sha256, isExecutable)
                    VALUES (?, ?, '', ?, ?, FALSE)
                    """
            ).execute(arguments: [report.id, step.name, outputs.bytes, outputs.sha256])
        }
        try recordProofs(of: report, db)
    }

    private static func insert(_ step: StepRecord, _ run: RunID, position: Int, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO step (run, position, name, status, reason, duration, attempts)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            run, position, step.name, step.status.rawValue, step.reason, step.duration, step.attempts.count,
        ])
    }

    private static func insert(_ tests: [TestResult], _ run: RunID, _ db: Database) throws {
        guard !tests.isEmpty else { return }
        var cases = try Interning<TestName>(db, table: "testCase", columns: ["suite", "name"])
        var files = try Interning<String>(db, table: "testFile", columns: ["path"])
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO test (run, position, testCase, attempt, status, duration, file, line, message)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        for (position, test) in tests.enumerated() {
            let message = test.status == .passed ? nil : test.message
            let name = TestName(suite: test.suite, name: test.name)
            try insert.execute(arguments: [
                run, position, try cases.id(name) { [name.suite, name.name] }, test.attempt, test.status.rawValue,
                test.duration, try test.file.map { file in try files.id(file) { [file] } }, test.line, message,
            ])
        }
    }
}

private struct TestName: Hashable {
    var suite: String
    var name: String
}

/// Texts that are stored once in a table of their own; other tables refer to them by number.
private struct Interning<Key: Hashable> {
    private let find: Statement
    private let add: Statement
    private let db: Database
    private var known: [Key: Int64] = [:]

    init(_ db: Database, table: String, columns: [String]) throws {
        self.db = db
        let matches = columns.map { "\($0) = ?" }.joined(separator: " AND ")
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        find = try db.cachedStatement(sql: "SELECT id FROM \(table) WHERE \(matches)")
        add = try db.cachedStatement(
            sql: "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))")
    }

    mutating func id(_ key: Key, _ texts: () -> StatementArguments) throws -> Int64 {
        if let id = known[key] { return id }
        let id = try look(texts())
        known[key] = id
        return id
    }

    private func look(_ texts: StatementArguments) throws -> Int64 {
        if let id = try Int64.fetchOne(find, arguments: texts) { return id }
        try add.execute(arguments: texts)
        return db.lastInsertedRowID
    }
}
