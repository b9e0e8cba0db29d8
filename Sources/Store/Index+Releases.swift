public import Results
internal import GRDB

extension Index {
    /// Few of all runs are releases, so they have an index of their own. The others are for pages about long histories.
    static func createReleases(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE INDEX run_release ON run (id) WHERE \(isRelease);
                CREATE INDEX run_repositoryVerdict ON run (repository, verdict, id) WHERE verdict IS NOT NULL;
                CREATE INDEX change_updated ON change (repository, updatedAt);
                """)
    }

    private static let isRelease = "json_extract(request, '$.runsAtMostOnce')"

    /// Runs whose steps must not run twice, newest first.
    ///
    /// - Parameters:
    ///   - repository: Only those of this repository, by its name.
    ///   - before: Only those with a smaller number.
    public func releases(of repository: String?, before: RunID? = nil, limit: Int) async throws -> [ReleaseRun] {
        try await read { db in
            let named = repository == nil ? "" : "AND +run.repository = (SELECT id FROM repository WHERE name = ?1)"
            let rows = try Row.fetchAll(
                db.cachedStatement(
                    sql: """
                        \(Self.selectRun.replacing("FROM run JOIN", with: "FROM run INDEXED BY run_release JOIN"))
                        WHERE \(Self.isRelease) \(named) AND run.id < ?2 ORDER BY run.id DESC LIMIT ?3
                        """), arguments: [repository ?? "", before ?? .max, max(limit, 0)])
            let requests = Dictionary(
                rows.map { ($0["id"] as RunID, $0["request"] as String) }, uniquingKeysWith: { first, _ in first })
            return try Self.summaries(rows, db).map { run in
                let request = try requests[run.id].map { try ArchiveJSON.decode(RunRequest.self, from: $0) }
                return ReleaseRun(
                    run: run, landed: request?.mergedChanges ?? [], artifacts: try Self.artifacts(of: run.id, db))
            }
        }
    }

    private static func artifacts(of run: RunID, _ db: Database) throws -> [ArtifactRecord] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT * FROM artifact WHERE run = ? ORDER BY step, path LIMIT 100"),
            arguments: [run]
        ).map {
            ArtifactRecord(
                step: $0["step"], path: $0["path"], bytes: $0["bytes"], sha256: $0["sha256"],
                isExecutable: $0["isExecutable"])
        }
    }
}
