public import Results
public import Store
internal import Foundation
internal import Git
internal import Pipeline

/// The result of rebuilding a store.
public struct ReindexOutcome: Sendable, Equatable {
    /// Runs that were added.
    public var restored = 0
    /// Runs that the store already had.
    public var known = 0
    /// Runs that can't be read. The store only reserves their numbers.
    public var problems: [ArchiveProblem] = []

    public init() {}
}

/// What the daemon's start found in the archive.
public struct SettleOutcome: Sendable, Equatable {
    /// Runs that were archived but had no verdict in the store.
    public var finished: [RunID] = []
    /// The number of archived runs that the store did not have, because it lost its last writes.
    public var added = 0
    /// What is wrong with runs that could not be added.
    public var problems: [ArchiveProblem] = []

    public init() {}
}

extension ArchiveStore {
    /// Adds all archived runs that the store does not have, with their numbers. No number of an archived run is used
    /// again.
    ///
    /// What was only in the store is not restored: queued runs, ref cursors, and the states of changes. The next
    /// observation of each repository is a baseline.
    public func reindex(
        into index: Index, progress: @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) async throws -> ReindexOutcome {
        let refs = try await refs()
        if let last = refs.last { try await index.reserve(through: last.id) }
        return try await add(refs, to: index, progress: progress)
    }

    private func add(
        _ refs: [(id: RunID, commit: OID)], to index: Index,
        progress: @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) async throws -> ReindexOutcome {
        var outcome = ReindexOutcome()
        for start in stride(from: 0, to: refs.count, by: 64) {
            var runs: [Index.Restored] = []
            for ref in refs[start..<min(start + 64, refs.count)] {
                do {
                    runs.append(try await restored(ref.id, ref.commit))
                } catch let error as ArchiveError where error.code == .damagedRun || error.code == .newerReport {
                    outcome.problems.append(ArchiveProblem(error, ref.id))
                }
            }
            let (added, refused) = try await index.restore(runs)
            outcome.restored += added
            outcome.known += runs.count - added - refused.count
            outcome.problems += refused.map { id, why in
                ArchiveProblem(Self.damaged(id, "report.json", why + "."), id)
            }
            progress(min(start + 64, refs.count), refs.count)
        }
        return outcome
    }

    /// Called once when the daemon starts, before ``Index/recoverInterrupted()``. Where the archive knows more than the
    /// store, because that was restored from its copy or has lost its log, the store learns it: verdicts, runs and their
    /// numbers. So nothing is tested again because the store forgot it. Also removes what a crash left of runs that were
    /// being recorded.
    public func settle(_ index: Index) async throws -> SettleOutcome {
        artifacts.removeIncoming()
        queueFolder.removeAll(except: Set(try await index.queuedForArchive()))
        let refs = try await refs()
        if let last = refs.last { try await index.reserve(through: last.id) }
        let commits = Dictionary(uniqueKeysWithValues: refs.map { ($0.id, $0.commit) })
        var outcome = SettleOutcome()
        var ended: [Index.Restored] = []
        for id in try await index.unarchivedRuns() {
            guard let commit = commits[id] else { continue }
            do { ended.append(try await restored(id, commit)) } catch let error as ArchiveError
                where error.code == .damagedRun || error.code == .newerReport
            {
                outcome.problems.append(ArchiveProblem(error, id))
            }
        }
        // In the order in which they ended, because a run may show that a proof of an earlier one was wrong.
        for run in ended.sorted(by: { $0.report.endedAt < $1.report.endedAt }) {
            do {
                try await index.finish(run.report, tests: run.tests, archivedBytes: run.bytes)
                outcome.finished.append(run.report.id)
            } catch let error as ArchiveError where error.code == .verdictGiven {
                outcome.problems.append(ArchiveProblem(.contradiction, run.report.id, error.description))
            }
        }
        let known = try await index.archivedIDs()
        let lost = refs.filter { !known.contains($0.id) }
        if !lost.isEmpty {
            let added = try await add(lost, to: index)
            outcome.added = added.restored
            outcome.problems += added.problems.filter { problem in !outcome.problems.contains { $0.run == problem.run }
            }
        }
        return outcome
    }

    private func restored(_ id: RunID, _ commit: OID) async throws -> Index.Restored {
        try await withArchive { repository in
            let report = try Self.report(id, commit, repository)
            let tree = try Self.reading(id, "The tree") { try repository.commit(commit).tree }
            var bytes = 0
            for entry in try Self.reading(id, "The tree", { try repository.entries(ofTree: tree, recursive: true) })
            where entry.kind == .blob {
                bytes += try Self.reading(id, entry.path) { try repository.blob(entry.id, atMost: .max) }.count
            }
            return Index.Restored(
                report: report, request: try Self.request(id, commit, repository),
                tests: try Self.tests(id, commit, repository), bytes: bytes)
        }
    }
}
