public import Results
internal import GRDB

extension Index {
    /// The number of runs that repeat this one, directly or indirectly.
    public func repetitions(of origin: RunID) async throws -> Int {
        try await read { db in
            let count = try Int.fetchOne(
                db,
                sql: """
                    WITH RECURSIVE family(id) AS (
                        SELECT ?1 UNION SELECT run.id FROM family JOIN run ON run.rerunOf = family.id
                    )
                    SELECT count(*) - 1 FROM family
                    """, arguments: [origin])
            return count ?? 0
        }
    }
}
