internal import Results
public import Store
internal import Foundation
internal import Git
internal import Pipeline

extension ArchiveStore {
    /// Reads everything, and checks each object's hash, each artifact's digest, and each archived run against its row
    /// in the store.
    ///
    /// - Parameter progress: Called from time to time with the number of runs that were read, and the total.
    /// - Returns: The problems, by run; empty if there are none.
    public func verify(_ index: Index, progress: @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }) async throws
        -> [ArchiveProblem]
    {
        // Nothing is exported meanwhile: what is in the index only, waits there.
        let (refs, runs, waiting) = try await writing.pass {
            (try await self.refs(), try await index.archivedRuns(), Set(try await index.queuedForArchive()))
        }
        let rows = Dictionary(uniqueKeysWithValues: runs.map { ($0.id, $0) })
        var problems: [ArchiveProblem] = []
        var digests: [String: Bool?] = [:]
        for (number, ref) in refs.enumerated() {
            let (report, found) = try await verify(ref.id, ref.commit)
            problems += found
            if let report {
                let outputs = report.steps.compactMap { step in
                    step.outputs.map {
                        ArtifactRecord(
                            step: step.name, path: "the output of \(step.name)", bytes: $0.bytes, sha256: $0.sha256)
                    }
                }
                for artifact in report.artifacts + outputs {
                    let isRight = digests[artifact.sha256] ?? check(artifact.sha256)
                    digests[artifact.sha256] = isRight
                    if isRight != true { problems.append(Self.problem(artifact, ref.id, isMissing: isRight == nil)) }
                }
                // An answer that the archive does not have yet may have changed the verdict.
                if let row = rows[ref.id], !waiting.contains(ref.id) { problems += Self.contradictions(report, row) }
            }
            if rows[ref.id] == nil {
                problems.append(
                    ArchiveProblem(
                        .notInIndex, ref.id,
                        "Run \(ref.id) is in the archive but not in the index. `pipectl archive reindex` adds it."))
            }
            if number % 100 == 99 { progress(number + 1, refs.count) }
        }
        progress(refs.count, refs.count)
        let archived = Set(refs.map(\.id))
        for id in rows.keys where !archived.contains(id) && !waiting.contains(id) {
            problems.append(
                ArchiveProblem(
                    .notInArchive, id,
                    "Run \(id) is in the index, but \(Self.ref(id)) is not in the archive. Fetch it from a copy made by "
                        + "`pipectl archive push`; its tests and verdict are still in the index."))
        }
        return problems.sorted { ($0.run, $0.kind.rawValue) < ($1.run, $1.kind.rawValue) }
    }

    /// Reads every file of one run.
    private func verify(_ id: RunID, _ commit: OID) async throws -> (Report?, [ArchiveProblem]) {
        try await withArchive { repository in
            var report: Report?
            do {
                let tree = try Self.reading(id, "The tree") { try repository.commit(commit).tree }
                let entries = try Self.reading(id, "The tree") { try repository.entries(ofTree: tree, recursive: true) }
                for entry in entries where entry.kind == .blob || entry.kind == .executable {
                    _ = try Self.reading(id, entry.path) { try repository.blob(entry.id, atMost: .max) }
                }
                report = try Self.report(id, commit, repository)
                _ = try Self.request(id, commit, repository)
                _ = try Self.tests(id, commit, repository)
                return (report, [])
            } catch let error as ArchiveError {
                return (report, [ArchiveProblem(error, id)])
            }
        }
    }

    /// Whether the stored file has this digest; nil if there is no file.
    private func check(_ sha256: String) -> Bool? {
        guard let path = artifact(sha256) else { return nil }
        return (try? artifacts.digest(at: path)) == sha256
    }

    private static func problem(_ artifact: ArtifactRecord, _ id: RunID, isMissing: Bool) -> ArchiveProblem {
        let fact = isMissing ? "is missing" : "was changed on disk"
        return ArchiveProblem(
            isMissing ? .missingArtifact : .damagedArtifact, id,
            "\(artifact.path) of run \(id) \(fact) (artifacts/\(artifact.sha256.prefix(2))/"
                + "\(artifact.sha256.dropFirst(2))). Copy it back from a backup, or build it again with `pipectl rerun \(id)`."
        )
    }

    private static func contradictions(_ report: Report, _ row: RunSummary) -> [ArchiveProblem] {
        let facts = [
            ("verdict", row.verdict?.rawValue ?? "none", report.verdict.rawValue),
            ("repository", row.repository, report.repository), ("workflow", row.workflow, report.workflow),
            ("head", row.head, report.head), ("change", row.change ?? "none", report.change?.name ?? "none"),
            ("tests", String(row.testCounts.total), String(report.testCounts.total)),
        ]
        return facts.filter { $0.1 != $0.2 }.map { name, here, there in
            ArchiveProblem(
                .contradiction, report.id,
                "The \(name) of run \(report.id) is \(here) in the index but \(there) in the archive; the archive is right. "
                    + "Stop the daemon, move index.sqlite away and run `pipectl archive reindex`.")
        }
    }
}
