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

    /// The names of the repositories that a daemon has looked at; the others were only named by a run by hand.
    public func watchedRepositories() async throws -> Set<String> {
        try await read { db in
            try String.fetchSet(db, sql: "SELECT name FROM repository WHERE baselineAt IS NOT NULL")
        }
    }
}
