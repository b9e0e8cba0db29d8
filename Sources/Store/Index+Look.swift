public import Results
internal import Foundation
internal import GRDB
public import Git

extension Index {
    /// The refs that moved since the last observation, sorted by name, and the changes that this concerns; nil before
    /// the baseline.
    ///
    /// Both sides are walked once in the same order, so that no string is made for a ref that did not move.
    ///
    /// - Parameter about: Returns which changes are needed for the moved refs. Not called if none moved.
    public func news(
        of repository: String, refs: RefTable, about: @escaping @Sendable ([RefChange]) -> ChangeSelection
    ) async throws -> RefNews? {
        try await shortRead { db in
            guard let moves = try Self.moves(of: repository, to: refs, db) else { return nil }
            let known = moves.isEmpty ? [] : try Self.changes(of: repository, about(moves), db)
            return RefNews(moves: moves, known: known)
        }
    }

    private static func moves(of repository: String, to refs: RefTable, _ db: Database) throws -> [RefChange]? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, baselineAt FROM repository WHERE name = ?"), arguments: [repository]
        )
        guard let row, row["baselineAt"] as Int64? != nil else { return nil }
        let id: Int64 = row["id"]
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT ref, commitID FROM refCursor WHERE repository = ? ORDER BY ref"),
            arguments: [id])
        var moves: [RefChange] = []
        var here = 0
        while let row = try rows.next() {
            let old = try row.withUnsafeData(atIndex: 1) { $0?.withUnsafeBytes { OID(hex: $0) } }
            var order = -1
            while here < refs.count {
                order =
                    try row.withUnsafeData(atIndex: 0) { data in
                        data?.withUnsafeBytes { refs.order(at: here, $0) }
                    } ?? 0
                if order >= 0 { break }
                moves.append(RefChange(name: refs.name(at: here), old: nil, new: refs.id(at: here)))
                here += 1
            }
            let isThere = here < refs.count && order == 0
            if !isThere {
                moves.append(RefChange(name: row[0], old: old, new: nil))
            } else if refs.id(at: here) != old {
                moves.append(RefChange(name: refs.name(at: here), old: old, new: refs.id(at: here)))
            }
            if isThere { here += 1 }
        }
        for index in here..<refs.count {
            moves.append(RefChange(name: refs.name(at: index), old: nil, new: refs.id(at: index)))
        }
        return moves
    }

    /// Records the first observation: all refs, none of which starts a run. Repeating it replaces what was recorded.
    ///
    /// - Parameter location: The path or URL of the repository, for people.
    public func recordBaseline(of repository: String, location: String, refs: [String: String]) async throws {
        try await recordBaseline(of: repository, location: location) { add in
            for (ref, commit) in refs { try add(ref, commit) }
        }
    }

    /// The same for the refs of a snapshot.
    public func recordBaseline(of repository: String, location: String, refs: RefTable) async throws {
        try await recordBaseline(of: repository, location: location) { add in
            for (ref, commit) in refs { try add(ref, commit.hex) }
        }
    }

    private func recordBaseline(
        of repository: String, location: String,
        _ each: @Sendable @escaping (_ add: (_ ref: String, _ commit: String) throws -> Void) throws -> Void
    ) async throws {
        let at = now().milliseconds
        try await write { db in
            let id = try Self.repositoryID(repository, location: location, db)
            try db.execute(
                sql: "UPDATE repository SET baselineAt = ?, location = ? WHERE id = ?", arguments: [at, location, id])
            try db.execute(sql: "DELETE FROM refCursor WHERE repository = ?", arguments: [id])
            try db.execute(sql: "DELETE FROM heldBack WHERE repository = ?", arguments: [id])
            let insert = try db.cachedStatement(
                sql: "INSERT INTO refCursor (repository, ref, commitID) VALUES (?, ?, ?)")
            try each { ref, commit in try insert.execute(arguments: [id, ref, commit]) }
        }
    }

    /// Records one observation of a repository in one transaction: moves the cursor, updates the changes and accepts
    /// the runs.
    ///
    /// A request adds no run if one exists for the same repository, workflow, ref, head and ``RunRequest/identity``.
    /// Exceptions are runs that were superseded or cancelled: a ref that disappeared and came back needs its verdict.
    ///
    /// If runs are accepted, the observation is on disk with the next flushed transaction, or after ``flushLooks()``,
    /// for which a run must wait only before its first step. If a power cut undoes the observation, it undoes the
    /// cursor, too, and the next observation sees the refs move again.
    ///
    /// - Parameters:
    ///   - decided: What the forge said about changes when runs were decided about, by their names.
    ///   - heldBack: What filters of triggers held back, by ref. It replaces what was known of the ref; of a ref that
    ///     moved, nothing older is kept.
    /// - Throws: `.noBaseline` before ``recordBaseline(of:location:refs:)``, and `.cursorMoved` if a ref's cursor is
    ///   not at `old`.
    package func recordLook(
        repository: String, moved: [RefMove], requests: [RunRequest], changes: [ChangeRecord],
        decided: [String: ChangeFacts] = [:], heldBack: [String: [HeldBackWorkflow]] = [:]
    ) async throws -> LookOutcome {
        let now = now()
        return try await write(flushed: requests.isEmpty) { db in
            let row = try Row.fetchOne(
                db.cachedStatement(sql: "SELECT id, baselineAt FROM repository WHERE name = ?"), arguments: [repository]
            )
            guard let row, row["baselineAt"] as Int64? != nil else {
                throw ArchiveError(
                    .noBaseline,
                    "\"\(repository)\" has never been observed. Record its refs as the baseline first.")
            }
            let id: Int64 = row["id"]
            for move in moved {
                try Self.move(move, repository: id, repository, db)
                if move.new == nil { try Self.dropProofs(ofRef: move.ref, repository: id, db) }
            }
            for change in changes {
                try Self.dropProofs(ofNameBefore: change, repository: id, db)
                try Self.upsert(change, repository: id, at: now, db)
            }
            for ref in Set(moved.map(\.ref)).union(heldBack.keys) {
                try Self.setHeldBack(heldBack[ref] ?? [], of: ref, repository: id, db)
            }
            for (name, facts) in decided { try Self.decide(facts, of: name, repository: id, db) }
            var outcome = LookOutcome()
            for request in requests {
                let one = try Self.accept(request, at: now, db)
                if one.isNew { outcome.queued.append(one.run) } else { outcome.alreadyKnown.append(one.run.id) }
                outcome.superseded += one.superseded
                outcome.toCancel += one.toCancel
            }
            let gone = Set(outcome.superseded.map(\.run))
            outcome.queued.removeAll { gone.contains($0.id) }
            return outcome
        }
    }

    /// Accepts a run that a person or an agent requested, by the same rules as one that a ref change starts.
    public func enqueue(_ request: RunRequest) async throws -> EnqueueOutcome {
        let now = now()
        return try await write { db in try Self.accept(request, at: now, db) }
    }

    private static func move(_ move: RefMove, repository: Int64, _ name: String, _ db: Database) throws {
        let known = try String.fetchOne(
            db.cachedStatement(sql: "SELECT commitID FROM refCursor WHERE repository = ? AND ref = ?"),
            arguments: [repository, move.ref])
        guard known == move.old else {
            throw ArchiveError(
                .cursorMoved,
                "\(move.ref) of \"\(name)\" was recorded at \(known ?? "nothing"), not at \(move.old ?? "nothing"): "
                    + "another observation came first. Read the cursor again and repeat.")
        }
        if let commit = move.new {
            try db.cachedStatement(
                sql: "INSERT OR REPLACE INTO refCursor (repository, ref, commitID) VALUES (?, ?, ?)"
            ).execute(arguments: [repository, move.ref, commit])
        } else {
            try db.cachedStatement(sql: "DELETE FROM refCursor WHERE repository = ? AND ref = ?")
                .execute(arguments: [repository, move.ref])
        }
    }

    /// The repository's row number. The row is made if there is none.
    static func repositoryID(_ name: String, location: String = "", _ db: Database) throws -> Int64 {
        let find = try db.cachedStatement(sql: "SELECT id FROM repository WHERE name = ?")
        if let id = try Int64.fetchOne(find, arguments: [name]) { return id }
        try db.execute(sql: "INSERT INTO repository (name, location) VALUES (?, ?)", arguments: [name, location])
        return db.lastInsertedRowID
    }
}
