internal import Engine
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
            var torn: [String] = []
            // An archived run may have been written twice, and then it is the later one that was told.
            var commits: [String: OID] = [:]
            for record in records {
                if !record.objects.allSatisfy(repository.hasWhole) { torn.append(record.ref) }
                commits[record.ref] = record.commit
                let batch = ObjectBatch(repository)
                for object in record.objects { try batch.restore(object) }
                try batch.finish()
            }
            for (ref, commit) in commits {
                // One that can't be read is none.
                if case .none = try? repository.ref(ref) {
                    try repository.keep(commit, as: ref)
                    torn.append(ref)
                }
            }
            let files = records.map { Self.files(of: $0, in: repository) }
            try ObjectBatch.flush(files.reduce(into: Set()) { $0.formUnion($1) })
            return torn
        }
        try journal.clear()
        return Set(torn).compactMap { RunID($0.dropFirst(Self.refPrefix.count)) }.sorted()
    }

    /// From now on small runs are flushed together: each is on disk once ``write(_:request:tests:files:)`` returns, in a
    /// journal at first. ``flush()`` must follow, or the next process does it at its start.
    ///
    /// For the process that may write to the archive, after ``recover()``, and only where many runs are to come: for one
    /// it is the same work twice.
    public func beginJournal() { journal.open() }

    /// Empties the journal whenever no run was archived for `rest`, and when it is half full, until the task is cancelled.
    public func keepFlushing(rest: Duration = .seconds(1)) async {
        for await _ in journal.news {
            var seen = 0
            while let load = journal.load {
                if load.isHalfFull || load.written == seen { try? await flush() }
                seen = load.written
                guard (try? await Task.sleep(for: rest)) != nil else { return }
            }
        }
    }

    /// Flushes what is in the archive and has been flushed in the journal only. Throws where the disk says no; the
    /// journal has it still.
    public func flush() async throws {
        guard let paths = await journal.beginFlush() else { return }
        do {
            try await withArchive { _ in try ObjectBatch.flush(paths) }
            journal.endFlush(true)
        } catch {
            journal.endFlush(false)
            throw error
        }
    }

    /// The files that a record's objects and its ref have, and their folders.
    private static func files(of record: JournalRecord, in repository: Repository) -> Set<String> {
        let files = record.objects.map { repository.looseFile(of: $0.id) } + [repository.looseFile(of: record.ref)]
        return Set(files + files.map { ($0 as NSString).deletingLastPathComponent })
            .union([repository.commonDirectory + "/objects"])
    }
}
