public import Results
internal import Store
internal import Foundation
internal import Git

extension ArchiveStore {
    /// The report of a run.
    ///
    /// - Throws: `.unknownRun`, `.damagedRun`, and `.newerReport` if a newer version of pipectl wrote it.
    public func report(_ id: RunID) async throws -> Report {
        try Self.report(id, try await file("report.json", of: id))
    }

    /// The request of a run.
    public func request(_ id: RunID) async throws -> RunRequest {
        let content = try Self.need("request.json", id, try await file("request.json", of: id))
        return try Self.decode(RunRequest.self, "request.json", id, content)
    }

    /// Every try of every test of a run, with details.
    public func tests(_ id: RunID) async throws -> [TestResult] {
        if let bytes = try await queued("tests.json", of: id) { return try Self.tests(bytes, of: id) }
        return try await whereItIs(id, waiting: []) { [recentTests] repository in
            let commit = try Self.commit(id, repository)
            let entry = try Self.reading(id, "tests.json") { try repository.entry("tests.json", at: commit) }
            guard let file = entry?.id else { return [] }
            return try recentTests.results(of: file) {
                let bytes = try Self.read("tests.json", id, commit, repository) ?? []
                return (try Self.tests(bytes, of: id), bytes.count)
            }
        }
    }

    /// A log; with `.times` appended to its name, the times of its lines.
    ///
    /// - Throws: `.noSuchFile` if the run has none.
    public func log(_ id: RunID, _ file: String) async throws -> [UInt8] {
        guard let content = try await self.file("logs/" + file, of: id) else {
            throw ArchiveError(
                .noSuchFile,
                "Run \(id) has no file logs/\(file). `pipectl show \(id)` names its logs and result files.",
                run: id)
        }
        return content
    }

    /// The names of a run's logs, sorted, without the files of times.
    public func logs(_ id: RunID) async throws -> [String] {
        try await names(in: "logs", of: id).filter { !$0.hasSuffix(".times") }
    }

    /// The names of a run's result files, sorted.
    public func resultFiles(_ id: RunID) async throws -> [String] {
        try await names(in: "results", of: id)
    }

    /// A result file of a run, as it was archived; nil if it has none of this name.
    public func resultFile(_ id: RunID, _ name: String) async throws -> [UInt8]? {
        try await file("results/\(name)", of: id)
    }

    /// A file of a run; nil if it has none of this name. What waits in the index is newer than what the archive has.
    private func file(_ path: String, of id: RunID) async throws -> [UInt8]? {
        if let content = try await queued(path, of: id) { return content }
        return try await whereItIs(id, waiting: nil) { repository in
            try Self.read(path, id, Self.commit(id, repository), repository)
        }
    }

    /// A file that waits to be archived; nil if there is none.
    private func queued(_ path: String, of id: RunID) async throws -> [UInt8]? {
        guard let queued = try await queue?.queuedArchiveFile(path, of: id) else { return nil }
        if let content = queued.content { return content }
        // It is gone when the archive has it.
        return FileManager.default.contents(atPath: queueFolder.path(path, of: id)).map { Array($0) }
    }

    private func names(in folder: String, of id: RunID) async throws -> [String] {
        let prefix = folder + "/"
        let waiting = try await queue?.queuedArchivePaths(of: id).filter { $0.hasPrefix(prefix) } ?? []
        if !waiting.isEmpty { return waiting.map { String($0.dropFirst(prefix.count)) } }
        return try await whereItIs(id, waiting: []) { repository in
            let commit = try Self.commit(id, repository)
            return try Self.reading(id, folder) {
                guard let tree = try repository.treeID(of: commit, path: folder) else { return [] }
                return try repository.entries(ofTree: tree, recursive: true).filter { $0.kind == .blob }.map(\.path)
                    .sorted()
            }
        }
    }

    /// Asks the archive for something of a run that the index has not; `waiting` where the run is not in the archive yet.
    private func whereItIs<T: Sendable>(
        _ id: RunID, waiting: T, _ body: @Sendable @escaping (Repository) throws -> T
    ) async throws -> T {
        do { return try await withArchive(body) } catch let error as ArchiveError where error.code == .unknownRun {
            guard let queue else { throw error }
            if try await !queue.queuedArchivePaths(of: id).isEmpty { return waiting }
            // It may have come into the archive in between.
            return try await withArchive(body)
        }
    }

    static func commit(_ id: RunID, _ repository: Repository) throws -> OID {
        guard let commit = try repository.ref(ref(id)) else {
            throw ArchiveError.unknownRun(id)
        }
        return commit
    }

    static func report(_ id: RunID, _ commit: OID, _ repository: Repository) throws -> Report {
        try report(id, read("report.json", id, commit, repository))
    }

    private static func report(_ id: RunID, _ content: [UInt8]?) throws -> Report {
        let bytes = try need("report.json", id, content)
        struct Version: Decodable { var schemaVersion: Int }
        let version = try decode(Version.self, "report.json", id, bytes).schemaVersion
        guard version <= Report.currentSchemaVersion else {
            throw ArchiveError(
                .newerReport,
                "The report of run \(id) has the schema version \(version); this pipectl reads up to "
                    + "\(Report.currentSchemaVersion). Use the pipectl that wrote it, or a newer one.", run: id)
        }
        let report = try decode(Report.self, "report.json", id, bytes)
        // Under another number, the report would replace another run in a store, or use up all numbers.
        guard report.id == id else {
            throw damaged(id, "report.json", "it is the report of run \(report.id).")
        }
        return report
    }

    static func request(_ id: RunID, _ commit: OID, _ repository: Repository) throws -> RunRequest {
        try decode(
            RunRequest.self, "request.json", id,
            need("request.json", id, read("request.json", id, commit, repository)))
    }

    static func tests(_ id: RunID, _ commit: OID, _ repository: Repository) throws -> [TestResult] {
        guard let bytes = try read("tests.json", id, commit, repository) else { return [] }
        return try tests(bytes, of: id)
    }

    private static func tests(_ bytes: [UInt8], of id: RunID) throws -> [TestResult] {
        try TestResultsReader.read(bytes) ?? decode([TestResult].self, "tests.json", id, bytes)
    }

    private static func need(_ path: String, _ id: RunID, _ content: [UInt8]?) throws -> [UInt8] {
        guard let content else { throw damaged(id, path, "it is missing.") }
        return content
    }

    /// The bytes of a file, whose hash libgit2 checks; nil if the run's tree has no such file.
    static func read(_ path: String, _ id: RunID, _ commit: OID, _ repository: Repository) throws -> [UInt8]? {
        try reading(id, path) { try repository.file(path, at: commit, atMost: .max) }
    }

    /// Runs `body`, and turns a Git error into one that names the run.
    static func reading<T>(_ id: RunID, _ path: String, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as GitError {
            throw damaged(id, path, words(error), error)
        }
    }

    static func decode<Value: Decodable>(
        _ type: Value.Type, _ path: String, _ id: RunID, _ bytes: [UInt8]
    ) throws -> Value {
        do {
            return try ArchiveJSON.decode(type, from: bytes)
        } catch {
            throw damaged(id, path, reason(error), error)
        }
    }

    /// A decoding error as one sentence.
    private static func reason(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return words(error) }
        func at(_ path: [any CodingKey]) -> String {
            path.isEmpty
                ? "" : " at " + path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        }
        switch error {
        case .keyNotFound(let key, let context): return "\"\(key.stringValue)\" is missing\(at(context.codingPath))."
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            return "\(context.debugDescription)\(at(context.codingPath))."
        @unknown default: return words(error)
        }
    }

    static func damaged(_ id: RunID, _ path: String, _ facts: String, _ cause: (any Error)? = nil) -> ArchiveError {
        ArchiveError(
            .damagedRun,
            "\(path) of the archived run \(id) can't be read: \(facts) Fetch \(ref(id)) from a copy made by `pipectl archive "
                + "push`, or `pipectl rerun \(id)`.", run: id, cause: cause)
    }
}
