public import Results
public import Store
internal import Foundation
internal import Git
internal import Pipeline

/// What rebuilding an index came to.
public struct ReindexOutcome: Sendable, Equatable {
    /// Runs that were added.
    public var restored = 0
    /// Runs that the index had.
    public var known = 0
    /// Runs that can't be read; the index has nothing of them but their numbers, which stay taken.
    public var problems: [ArchiveProblem] = []

    public init() {}
}

/// What the start of the daemon found in the archive.
public struct SettleOutcome: Sendable, Equatable {
    /// Runs that the archive has and that had no verdict in the index.
    public var finished: [RunID] = []
    /// How many archived runs the index did not know: it has lost the end of what was written to it.
    public var added = 0
    public var problems: [ArchiveProblem] = []

    public init() {}
}

extension ArchiveStore {
    /// Adds all archived runs that the index lacks, under their numbers. No number of an archived run is used again.
    ///
    /// What was only in the index does not come back: waiting runs, ref cursors, and the state of changes. The next look
    /// at each repository is a baseline.
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

    /// Once at the start of the daemon, before ``Index/recoverInterrupted()``: where the archive knows more than the index,
    /// because that was restored from its copy or has lost its log, the index learns it. So what was tested is not tested
    /// again. Also removes what a crash left of runs that were being recorded.
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
        // In the order in which they ended, for one may withdraw what another has proved.
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
