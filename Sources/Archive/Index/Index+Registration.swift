internal import GRDB

extension Index {
    /// Remembers where a repository is, so that a run of it can be started after a restart.
    ///
    /// - Parameter location: The path or URL, for people and for opening it again.
    public func register(_ repository: String, location: String) async throws {
        try await write { db in
            _ = try Self.repositoryID(repository, location: location, db)
            try db.execute(
                // Another repository has another branch and other refs: they are asked for anew.
                sql: """
                    UPDATE repository SET location = ?, target = NULL, targetSource = NULL, numberedRefs = NULL
                    WHERE name = ? AND location <> ?
                    """,
                arguments: [location, repository, location])
        }
    }
}
