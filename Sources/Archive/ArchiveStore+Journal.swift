public import Results
internal import Foundation
internal import Git

extension ArchiveStore {
    /// Writes what an earlier process has put into the archive and not flushed, as far as a power cut took it away; all
    /// of it is on disk when this returns.
    ///
    /// For the process that may write to the archive, before it reads there. Throws when something can't be written;
    /// what is to be done is still known then.
    /// - Returns: The runs that were not whole.
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

    /// Brings what the records have to the disk.
    ///
    /// - Parameter isAnew: Whether what is there is not to be trusted.
    /// - Returns: The runs that were not whole.
    private static func put(_ records: [JournalRecord], into repository: Repository, isAnew: Bool) throws -> [RunID] {
        let batch = ObjectBatch(repository)
        var files = names(in: repository)
        var torn: Set<String> = []
        // An archived run may have been written twice, and then it is the later one that was told.
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
            // One that can't be read is none.
            let known = (try? repository.ref(ref)) ?? nil
            if known == nil { torn.insert(ref) }
            // One that was amended since has been flushed with that.
            if known == nil || isAnew && known == commit { try repository.keep(commit, as: ref) }
            files.insert(repository.looseFile(of: ref))
        }
        try ObjectBatch.flush(files)
        return torn.compactMap { RunID($0.dropFirst(refPrefix.count)) }.sorted()
    }

    /// What has the names of runs and objects: the folders, and the file that packed refs are in.
    static func names(in repository: Repository) -> Set<String> {
        let folder = repository.commonDirectory
        return Set(
            ["", "/packed-refs", "/refs", "/refs/runs", "/objects", "/objects/pack"].map { folder + $0 })
    }

    /// From now on small runs are flushed together: each is on disk once ``write(_:request:tests:files:)`` returns, in a
    /// journal at first. ``flush()`` must follow, or the next process does it at its start.
    ///
    /// For the process that may write to the archive, after ``recover()``, and only where many runs are to come: for one
    /// it is the same work twice.
    public func beginJournal() { journal.open() }

    /// Empties the journal whenever no run was archived for `rest`, and when it is half full, until the task is cancelled.
    ///
    /// - Parameter flush: What to do then: ``flush()``, and to say so where that throws. It is called again until the
    ///   journal is empty.
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

    /// Flushes what is in the archive and has been flushed in the journal only. Throws where the disk says no, also to
    /// empty the journal; who removes runs must not go on then, for a start would bring them back.
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
