public import Results
internal import Foundation
internal import GRDB

/// What `pipectl wait` needs of the store.
extension Index {
    /// The refs of a repository that were at a commit in the last observation, sorted; at most a hundred.
    public func refs(at commit: String, of repository: String) async throws -> [String] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT ref FROM refCursor
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND commitID = ? ORDER BY ref LIMIT 100
                    """, arguments: [repository, commit])
        }
    }

    /// The commit of a ref in the last observation; nil if there was no such ref.
    public func commit(at ref: String, of repository: String) async throws -> String? {
        try await read { db in
            try String.fetchOne(
                db,
                sql: """
                    SELECT commitID FROM refCursor
                    WHERE repository = (SELECT id FROM repository WHERE name = ?) AND ref = ?
                    """, arguments: [repository, ref])
        }
    }

    /// The durations of a workflow's steps in the runs in which they last passed.
    public func stepTimes(repository: String, workflow: String) async throws -> [String: StepTime] {
        try await read { db in
            let id = try Int64.fetchOne(db, sql: "SELECT id FROM repository WHERE name = ?", arguments: [repository])
            guard let id else { return [:] }
            // More runs than needed for each step, because runs in which a step was proved or skipped have no duration
            // for it.
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT name, duration FROM step WHERE run IN (
                        SELECT id FROM run WHERE repository = ? AND workflow = ? AND +state = 'ended'
                            AND json_extract(run.request, '$.onlyTests') IS NULL
                        ORDER BY id DESC LIMIT \(3 * StepTime.runs))
                    AND status = 'passed' AND attempts > 0 AND duration IS NOT NULL ORDER BY run DESC
                    LIMIT \(100 * StepTime.runs)
                    """, arguments: [id, workflow])
            var times: [String: [Double]] = [:]
            while let row = try rows.next() {
                let name: String = row[0]
                if times[name, default: []].count < StepTime.runs { times[name, default: []].append(row[1]) }
            }
            return times.mapValues { StepTime(median: $0.sorted()[$0.count / 2], runs: $0.count) }
        }
    }
}
