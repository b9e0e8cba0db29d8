import Concurrency
public import Results
public import Store
internal import Foundation
internal import Git

/// How a run ends: by one transaction of the index, with all files that the archive is to have.
extension ArchiveStore {
    /// Gives a run its verdict, durably, with its report, tests, logs and artifacts.
    ///
    /// Readers have it at once; ``export(from:)`` brings it into `archive.git`. Repeating it with the same verdict changes
    /// nothing. Throws `.verdictGiven` when the run has another one, `.digestMismatch` when an artifact is not what the
    /// report says, `.unreadableFile`, and `.diskFull`.
    public func record(
        _ report: Report, request: RunRequest, tests: [TestResult] = [], files: RunFiles = RunFiles(), in index: Index
    ) async throws {
        let contents = try await Self.work.run { [self] in
            try keepArtifacts(of: report, files)
            return try RunContents(report, request, tests, files)
        }
        // On disk before the index names them. Those of a run that has ended are not replaced.
        if !contents.large.isEmpty, try await index.run(report.id)?.summary.state != .ended {
            try await Self.work.run { [queueFolder] in try queueFolder.keep(contents.large, of: report.id) }
        }
        try await index.finish(report, tests: tests, archiving: contents.files, bytes: contents.bytes)
        tell.yield()
    }

    /// Gives up what an unfinished ``record(_:request:tests:files:in:)`` has kept, so that its space is free.
    public func forget(_ id: RunID) { queueFolder.remove(id) }

    private func keepArtifacts(of report: Report, _ files: RunFiles) throws {
        let proved = Set(report.steps.filter { $0.standsFor != nil }.map(\.name))
        for artifact in report.artifacts {
            // Made by the run that stands for the step, and kept with it.
            if proved.contains(artifact.step), artifacts.want(artifact.sha256) { continue }
            guard let folder = files.artifacts else {
                throw ArchiveError(
                    .unreadableFile,
                    "Run \(report.id) names the artifact \(artifact.path), but no folder with artifacts was given. "
                        + "This is a bug: report it.", run: report.id)
            }
            try artifacts.keep(folder + "/" + artifact.sha256, sha256: artifact.sha256)
        }
        for outputs in report.steps.compactMap(\.outputs) {
            try artifacts.keep((files.artifacts ?? ".") + "/" + outputs.sha256, sha256: outputs.sha256)
        }
    }

    /// Reading and flushing block.
    private static let work = BoundedWork("archive", most: 4)
}

/// The changes that an ended run may see: the answer to the question that it ended with, and what became of its fix.
extension ArchiveStore {
    /// Puts `report` in the place of the one that the run has, and gives the run its verdict: one transaction. In
    /// `archive.git` it becomes a new commit on top: nothing is overwritten, and who fetches the archive gets it as a
    /// fast-forward.
    ///
    /// - Throws: `.alreadyArchived` where the known report has a verdict that nobody was asked about.
    public func amend(_ report: Report, in index: Index) async throws {
        let known = try await self.report(report.id)
        guard known == report || known.verdict == .needsApproval else {
            throw ArchiveError(
                .alreadyArchived,
                "The archive has run \(report.id) as \"\(known.verdict.title)\"; it did not ask for approval.",
                run: report.id)
        }
        try await index.amend(
            report, archiving: ArchiveFile(path: "report.json", content: ArchiveJSON.pretty(report)))
        tell.yield()
    }

    /// Says with a failed run what was done about it; nothing else of its report changes.
    public func amend(_ id: RunID, fixes: FixSeries, in index: Index) async throws {
        var report = try await report(id)
        report.fixes = fixes
        try await index.setFixState(
            fixes.state, of: id, archiving: ArchiveFile(path: "report.json", content: ArchiveJSON.pretty(report)))
        tell.yield()
    }
}
