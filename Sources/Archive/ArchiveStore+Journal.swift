public import Results
internal import Foundation
internal import Git

extension ArchiveStore {
    /// Writes again what an earlier process put into the archive and did not flush, as far as a power cut has removed
    /// it. All of it is on disk when this returns.
    ///
    /// Call it in the process that may write to the archive, before reading. If it throws, it can be repeated.
    ///
    /// - Returns: The runs that were incomplete.
    public func recover() async throws -> [RunID] {
        let records = try journal.records()
        if records.isEmpty { return [] }
        let torn = try await withArchive { repository in
            repository.forgetTorn(under: String(Self.refPrefix.dropLast()))
            return try Self.put(records, into: repository, isAnew: false)
        }
        try journal.clear()
        return torn
    }

    /// Writes what the records contain to the disk.
    ///
    /// - Parameter isAnew: Whether existing files must not be trusted.
    /// - Returns: The runs that were incomplete.
    private static func put(_ records: [JournalRecord], into repository: Repository, isAnew: Bool) throws -> [RunID] {
        let batch = ObjectBatch(repository)
        var files = names(in: repository)
        var torn: Set<String> = []
        // A run may have been archived twice. Then the later record is the valid one.
        var commits: [String: OID] = [:]
        for record in records {
            commits[record.ref] = record.commit
            for object in record.objects {
                let isWhole = repository.hasWhole(object)
                if !isWhole { torn.insert(record.ref) }
                if isAnew || !isWhole { try batch.rewrite(object) }
                let path = repository.looseFile(of: object.id)
                files.formUnion([path, (path as NSString).deletingLastPathComponent])
            }
        }
        try batch.finish()
        for (ref, commit) in commits {
            // A ref that can't be read counts as missing.
            let known = (try? repository.ref(ref)) ?? nil
            if known == nil { torn.insert(ref) }
            // If the run was amended since, that flushed it.
            if known == nil || isAnew && known == commit { try repository.keep(commit, as: ref) }
            files.insert(repository.looseFile(of: ref))
        }
        try ObjectBatch.flush(files)
        return torn.compactMap { RunID($0.dropFirst(refPrefix.count)) }.sorted()
    }

    /// The folders that have the names of runs and objects, and the file of packed refs.
    static func names(in repository: Repository) -> Set<String> {
        let folder = repository.commonDirectory
        return Set(
            ["", "/packed-refs", "/refs", "/refs/runs", "/objects", "/objects/pack"].map { folder + $0 })
    }

    /// From now on, small runs are flushed together: a run is in the journal on disk when
    /// ``write(_:request:tests:files:)`` returns. ``flush()`` must follow; otherwise the next process does it when it
    /// starts.
    ///
    /// For the process that may write to the archive, after ``recover()``, and only if it archives many runs. For a
    /// single run it doubles the work.
    public func beginJournal() { journal.open() }

    /// Empties the journal when no run was archived for `rest`, and when it is half full, until the task is cancelled.
    ///
    /// - Parameter flush: Calls ``flush()``, and reports its errors. It is called again until the journal is empty.
    public func keepFlushing(rest: Duration = .seconds(1), by flush: @Sendable () async -> Void) async {
        for await _ in journal.news {
            var seen = 0
            while let load = journal.load {
                if load.isHalfFull || load.written == seen { await flush() }
                seen = load.written
                guard (try? await Task.sleep(for: rest)) != nil else { return }
            }
        }
    }

    /// Flushes what so far is on disk only in the journal.
    ///
    /// - Throws: If the disk refuses that, or emptying the journal. A caller that removes runs must not continue then,
    ///   because the next start would restore them.
    public func flush() async throws {
        guard let unflushed = await journal.beginFlush() else { return }
        do {
            try await withArchive { [journal] repository in
                switch unflushed {
                case .paths(let paths): try ObjectBatch.flush(paths.union(Self.names(in: repository)))
                case .records: _ = try Self.put(journal.records(), into: repository, isAnew: true)
                }
            }
        } catch {
            _ = journal.endFlush(false)
            throw error
        }
        guard journal.endFlush(true) else { throw journal.unusable("emptied", "the disk refuses it") }
    }
}
