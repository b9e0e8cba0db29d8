public import Results
internal import Store
internal import Foundation
internal import Git

/// The changes that an archived run may have: the answer to its request for approval, and the state of its fix.
extension ArchiveStore {
    /// Replaces the archived report by `report`, with a new commit on top of the old one. Nothing is overwritten, and a
    /// copy of the archive gets it as a fast-forward.
    ///
    /// - Returns: The run's size in bytes, as in ``ArchivedRun/bytes``.
    /// - Throws: `.alreadyArchived` if the verdict of the archived report is not "needs approval".
    @discardableResult
    public func amend(_ report: Report) async throws -> Int {
        try await amend(report.id, "approval answered") { known in
            guard known == report || known.verdict == .needsApproval else {
                throw ArchiveError(
                    .alreadyArchived,
                    "The archive has run \(report.id) as \"\(known.verdict.title)\"; it did not ask for approval.",
                    run: report.id)
            }
            return report
        }
    }

    /// Records the attempts at fixing a failed run in its report. Nothing else in the report changes.
    ///
    /// - Returns: The run's size in bytes, as in ``ArchivedRun/bytes``.
    @discardableResult
    public func amend(_ id: RunID, fixes: FixSeries) async throws -> Int {
        try await amend(id, "fix \(fixes.state.rawValue)") { known in
            var report = known
            report.fixes = fixes
            return report
        }
    }

    private func amend(
        _ id: RunID, _ what: String, _ change: @escaping @Sendable (Report) throws -> Report
    ) async throws -> Int {
        try await withArchive { repository in
            let old = try Self.commit(id, repository)
            let known = try Self.report(id, old, repository)
            let entries = try repository.entries(ofTree: repository.commit(old).tree, recursive: true)
            let bytes = entries.filter { $0.kind == .blob }.reduce(0) { $0 + ((try? repository.size(of: $1.id)) ?? 0) }
            let report = try change(known)
            if known == report { return bytes }
            let batch = ObjectBatch(repository)
            let content = try ArchiveJSON.pretty(report)
            let blob = try batch.add(blob: content)
            try batch.finish()
            var files = Dictionary(
                entries.filter { $0.kind == .blob || $0.kind == .executable }.map { ($0.path, TreeFile.blob($0.id)) },
                uniquingKeysWith: { first, _ in first })
            files["report.json"] = .blob(blob)
            let author = Signature(name: "pipectl", email: "pipectl@localhost", time: Date())
            let commit = try repository.createCommit(
                tree: repository.createTree(files), parents: [old], author: author, committer: author,
                message: "run \(id): \(report.verdict.title), \(what)\n")
            try repository.setRef(Self.ref(id), to: commit, expecting: .some(old), message: "pipectl: \(what)")
            return bytes
        }
    }
}
