public import Results
internal import Store
internal import Foundation
internal import Git

/// Where a run left its files, in the engine's layout.
public struct RunFiles: Sendable, Equatable {
    /// The folder with the logs and their times. All regular files in it are archived.
    public var logs: String?
    /// The folder with copies of result files.
    public var results: String?
    /// Paths below ``results``.
    public var resultFiles: [String]
    /// The folder with copies of artifacts, whose names are their digests.
    public var artifacts: String?

    public init(logs: String? = nil, results: String? = nil, resultFiles: [String] = [], artifacts: String? = nil) {
        self.logs = logs
        self.results = results
        self.resultFiles = resultFiles
        self.artifacts = artifacts
    }
}

/// The result of archiving a run.
public struct ArchivedRun: Sendable, Equatable {
    /// The run's commit in `archive.git`, hexadecimal.
    public var commit: String
    /// The sum of the sizes of its files before compression, in bytes, without artifacts.
    public var bytes: Int
}

extension ArchiveStore {
    /// Archives a finished run. It is on disk when this returns.
    ///
    /// Repeating it with the same content changes nothing.
    ///
    /// - Throws: `.alreadyArchived` if the archive has another report under this number, `.digestMismatch` if an
    ///   artifact differs from the report, and `.unreadableFile`.
    @discardableResult
    public func write(
        _ report: Report, request: RunRequest, tests: [TestResult] = [], files: RunFiles = RunFiles()
    ) async throws -> ArchivedRun {
        let store = artifacts
        return try await withArchive { [self] repository in
            let proved = Set(report.steps.filter { $0.standsFor != nil }.map(\.name))
            for artifact in report.artifacts {
                // The run whose result is used for the step made it, and it is stored with that run.
                if proved.contains(artifact.step), store.want(artifact.sha256) { continue }
                guard let folder = files.artifacts else {
                    throw ArchiveError(
                        .unreadableFile,
                        "Run \(report.id) names the artifact \(artifact.path), but no folder with artifacts was given. "
                            + "This is a bug: report it.", run: report.id)
                }
                try store.keep(folder + "/" + artifact.sha256, sha256: artifact.sha256)
            }
            for outputs in report.steps.compactMap(\.outputs) {
                try store.keep((files.artifacts ?? ".") + "/" + outputs.sha256, sha256: outputs.sha256)
            }
            var tree = RunTree(repository, holding: journal.mostOfRecord)
            try tree.add("report.json", ArchiveJSON.pretty(report))
            try tree.add("request.json", ArchiveJSON.pretty(request))
            if !tests.isEmpty { try tree.add("tests.json", Array((try ArchiveJSON.compactText(tests) + "\n").utf8)) }
            if !report.artifacts.isEmpty { try tree.add("artifacts.json", ArchiveJSON.pretty(report.artifacts)) }
            if let logs = files.logs { try tree.addFiles(of: logs, as: "logs") }
            for file in files.resultFiles {
                try tree.add("results/" + file, fromFile: (files.results ?? ".") + "/" + file)
            }
            let commit = try self.commit(tree, report, repository)
            return ArchivedRun(commit: commit.hex, bytes: tree.bytes)
        }
    }

    private func commit(_ tree: RunTree, _ report: Report, _ repository: Repository) throws -> OID {
        // Nothing in it depends on the time of archiving, so a repetition makes the same commit.
        let author = Signature(name: "pipectl", email: "pipectl@localhost", time: report.endedAt)
        let batch = tree.batch
        let commit = try batch.add(
            commitOf: try batch.add(tree: tree.files), by: author,
            message: "run \(report.id): \(report.verdict.title)\n")
        let name = Self.ref(report.id)
        if let known = try repository.ref(name) {
            try Self.require(known, commit, report.id)
            try batch.finish()
            return commit
        }
        if let objects = batch.held,
            journal.append(JournalRecord(ref: name, commit: commit, objects: objects))
        {
            var files: Set<String> = []
            defer { journal.placed(batch.placed.union(files)) }
            try batch.place()
            do { try repository.add(commit, as: name) } catch {
                guard error.code == .exists, let known = try repository.ref(name) else { throw error }
                try Self.require(known, commit, report.id)
            }
            files = [repository.looseFile(of: name)]
        } else {
            // Before a ref names them.
            try batch.finish()
            try repository.setRef(name, to: commit, expecting: .some(nil), message: "pipectl: archive")
        }
        return commit
    }

    private static func require(_ known: OID, _ commit: OID, _ id: RunID) throws {
        guard known != commit else { return }
        throw ArchiveError(
            .alreadyArchived,
            "The archive has another report of run \(id), and an archived run can't change. "
                + "`pipectl archive reindex` records the numbers of all archived runs.", run: id)
    }
}

/// The files of one run that are being archived.
private struct RunTree {
    let batch: ObjectBatch
    var files: [String: TreeFile] = [:]
    var bytes = 0

    init(_ repository: Repository, holding: Int) { batch = ObjectBatch(repository, holding: holding) }

    mutating func add(_ path: String, _ content: [UInt8]) throws {
        files[path] = .blob(try batch.add(blob: content))
        bytes += content.count
    }

    mutating func add(_ path: String, fromFile file: String) throws {
        files[path] = .blob(try batch.add(blobFromFile: file))
        let facts = try FileManager.default.attributesOfItem(atPath: file)
        bytes += (facts[.size] as? NSNumber)?.intValue ?? 0
    }

    mutating func addFiles(of folder: String, as name: String) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            let facts = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
            guard facts[.type] as? FileAttributeType == .typeRegular else { continue }
            try add(name + "/" + file, fromFile: folder + "/" + file)
        }
    }
}
