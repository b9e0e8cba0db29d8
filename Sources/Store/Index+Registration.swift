internal import GRDB

extension Index {
    /// Records where a repository is, so that its runs can be started after a restart.
    ///
    /// - Parameter location: The path or URL, for people and for opening it again.
    public func register(_ repository: String, location: String) async throws {
        try await write { db in
            _ = try Self.repositoryID(repository, location: location, db)
            try db.execute(
                // Another repository has other branches and refs, so their settings are determined again.
                sql: """
                    UPDATE repository SET location = ?, target = NULL, targetSource = NULL, numberedRefs = NULL
                    WHERE name = ? AND location <> ?
                    """,
                arguments: [location, repository, location])
        }
    }

    /// The repositories that a daemon has observed. Others are known only from `pipectl run`.
    public func watchedRepositories() async throws -> Set<String> {
        try await read { db in
            try String.fetchSet(db, sql: "SELECT name FROM repository WHERE baselineAt IS NOT NULL")
        }
    }
}
