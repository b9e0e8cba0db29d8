public import Results
public import Store
internal import Foundation
internal import Git

/// What an export came to.
public struct ArchiveExport: Sendable, Equatable {
    /// Runs that `archive.git` has now.
    public var runs: [RunID] = []
    /// Runs that it can't have, and why; their files stay in the index.
    public var problems: [ArchiveProblem] = []

    public init() {}
}

/// How ended runs come from the index into `archive.git`.
extension ArchiveStore {
    /// How many runs are flushed, and leave the index, together.
    private static let batch = 64

    /// Writes all runs that wait into `archive.git`, and takes them out of the index's queue once they are on disk there.
    ///
    /// A crash at any moment leaves each run in one of both, or in both: an export that finds its own work changes
    /// nothing. Only for the process that owns the state.
    /// - Throws: What is wrong with the archive or the index as a whole, a full disk for example; all that was not done is
    ///   still in the queue.
    @discardableResult
    public func export(from index: Index) async throws -> ArchiveExport {
        try await writing.pass {
            var outcome = ArchiveExport()
            let waiting = try await index.queuedForArchive()
            for start in stride(from: 0, to: waiting.count, by: Self.batch) {
                try Task.checkCancellation()
                try await export(waiting[start..<min(start + Self.batch, waiting.count)], index, &outcome)
            }
            return outcome
        }
    }

    private func export(_ ids: ArraySlice<RunID>, _ index: Index, _ outcome: inout ArchiveExport) async throws {
        var rows: [Int64] = []
        var whole: [RunID] = []
        var done: [RunID] = []
        for id in ids {
            // A retention may have removed it since.
            guard let queued = try await index.queuedArchiveFiles(of: id) else { continue }
            do {
                try await repeating { [queueFolder] repository in
                    try Self.write(queued, of: id, queueFolder, into: repository)
                }
            } catch let error as ArchiveError where Self.concernsRun(error) {
                outcome.problems.append(ArchiveProblem(error, id))
                continue
            }
            rows += queued.rows
            done.append(id)
            if queued.isWholeRun { whole.append(id) }
        }
        // libgit2 has flushed the objects and refs themselves; before the index forgets them, all their names are, too.
        try await withArchive { repository in try Self.flushNames(of: repository) }
        try await index.removeFromArchiveQueue(rows)
        for id in whole { queueFolder.remove(id) }
        outcome.runs += done
    }

    /// Runs `body`, and again while another process writes the same ref, for two seconds at most.
    private func repeating(_ body: @escaping @Sendable (Repository) throws -> Void) async throws {
        let end = ContinuousClock.now + .seconds(2)
        while true {
            do {
                return try await withArchive(body)
            } catch let error as ArchiveError where Self.hasRival(error) && ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Whether another process holds the ref's lock, or has moved the ref since it was read.
    private static func hasRival(_ error: ArchiveError) -> Bool {
        let code = (error.cause as? GitError)?.code
        return code == .locked || code == .modified
    }

    /// Whether an error is about one run's content, so that others can be exported.
    private static func concernsRun(_ error: ArchiveError) -> Bool {
        [.alreadyArchived, .damagedRun, .newerReport, .unknownRun, .unreadableFile].contains(error.code)
    }

    /// Gives a run its commit and its ref, or puts a new report on top of the one that it has.
    private static func write(
        _ queued: QueuedArchiveFiles, of id: RunID, _ folder: ArchiveQueueFolder, into repository: Repository
    ) throws {
        var tree: [String: TreeFile] = [:]
        for file in queued.files {
            if let content = file.content {
                tree[file.path] = .blob(try repository.createBlob(content))
                continue
            }
            let path = folder.path(file.path, of: id)
            guard FileManager.default.fileExists(atPath: path) else {
                throw ArchiveError(
                    .unreadableFile,
                    "\"\(path)\" is missing, so run \(id) can't be archived. `pipectl rerun \(id)` makes a new run of it.",
                    run: id)
            }
            tree[file.path] = .blob(try repository.createBlob(fromFile: path))
        }
        let known = try repository.ref(ref(id))
        guard let report = queued.files.first(where: { $0.path == "report.json" })?.content else {
            throw damaged(id, "report.json", "it is missing in the index.")
        }
        let (verdict, endedAt) = try summary(of: id, report)
        if queued.isWholeRun {
            try add(tree, of: id, verdict, endedAt, known, to: repository)
        } else {
            try amend(tree, of: id, verdict, known, in: repository)
        }
    }

    /// What the commit says of a report; no more of it is read here.
    private static func summary(of id: RunID, _ report: [UInt8]) throws -> (verdict: Verdict, endedAt: Date) {
        struct Summary: Decodable {
            var verdict: Verdict
            var endedAt: Date
        }
        let summary = try decode(Summary.self, "report.json", id, report)
        return (summary.verdict, summary.endedAt)
    }

    private static func add(
        _ files: [String: TreeFile], of id: RunID, _ verdict: Verdict, _ endedAt: Date, _ known: OID?,
        to repository: Repository
    ) throws {
        // Nothing in it changes from one try to the next, so a repetition makes the same commit again.
        let author = Signature(name: "pipectl", email: "pipectl@localhost", time: endedAt)
        let commit = try repository.createCommit(
            tree: repository.createTree(files), parents: [], author: author, committer: author,
            message: "run \(id): \(verdict.title)\n")
        guard let known else {
            return try repository.setRef(ref(id), to: commit, expecting: .some(nil), message: "pipectl: archive")
        }
        // It may have got another report since, on top.
        guard try reading(id, "The history", { try repository.isAncestor(commit, of: known) }) else {
            throw ArchiveError(
                .alreadyArchived,
                "The archive has another report of run \(id), and an archived run can't change. "
                    + "`pipectl archive reindex` records the numbers of all archived runs.", run: id)
        }
    }

    private static func amend(
        _ files: [String: TreeFile], of id: RunID, _ verdict: Verdict, _ known: OID?, in repository: Repository
    ) throws {
        guard let known else { throw ArchiveError.unknownRun(id) }
        let old = try reading(id, "The tree") { try repository.commit(known).tree }
        let entries = try reading(id, "The tree") { try repository.entries(ofTree: old, recursive: true) }
        var all = Dictionary(
            entries.filter { $0.kind == .blob || $0.kind == .executable }.map { ($0.path, TreeFile.blob($0.id)) },
            uniquingKeysWith: { first, _ in first })
        all.merge(files) { $1 }
        let tree = try repository.createTree(all)
        if tree == old { return }
        let author = Signature(name: "pipectl", email: "pipectl@localhost", time: Date())
        let commit = try repository.createCommit(
            tree: tree, parents: [known], author: author, committer: author,
            message: "run \(id): \(verdict.title), amended\n")
        try repository.setRef(ref(id), to: commit, expecting: .some(known), message: "pipectl: amend")
    }
}
