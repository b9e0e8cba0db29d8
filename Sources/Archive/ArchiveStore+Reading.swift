public import Results
internal import Store
internal import Foundation
internal import Git

extension ArchiveStore {
    /// The report of a run.
    ///
    /// - Throws: `.unknownRun`, `.damagedRun`, and `.newerReport` if a newer version of pipectl wrote it.
    public func report(_ id: RunID) async throws -> Report {
        try await withArchive { try Self.report(id, Self.commit(id, $0), $0) }
    }

    /// The request of a run.
    public func request(_ id: RunID) async throws -> RunRequest {
        try await withArchive { try Self.request(id, Self.commit(id, $0), $0) }
    }

    /// Every try of every test of a run, with details.
    public func tests(_ id: RunID) async throws -> [TestResult] {
        try await withArchive { try Self.tests(id, Self.commit(id, $0), $0) }
    }

    /// A log; with `.times` appended to its name, the times of its lines.
    ///
    /// - Throws: `.noSuchFile` if the run has none.
    public func log(_ id: RunID, _ file: String) async throws -> [UInt8] {
        try await self.file("logs/" + file, of: id)
    }

    /// The names of a run's logs, sorted, without the files of times.
    public func logs(_ id: RunID) async throws -> [String] {
        try await names(in: "logs", of: id).filter { !$0.hasSuffix(".times") }
    }

    /// The names of a run's result files, sorted.
    public func resultFiles(_ id: RunID) async throws -> [String] {
        try await names(in: "results", of: id)
    }

    private func file(_ path: String, of id: RunID) async throws -> [UInt8] {
        try await withArchive { repository in
            let content = try Self.read(path, id, Self.commit(id, repository), repository)
            guard let content else {
                throw ArchiveError(
                    .noSuchFile, "Run \(id) has no file \(path). `pipectl show \(id)` names its logs and result files.",
                    run: id)
            }
            return content
        }
    }

    private func names(in folder: String, of id: RunID) async throws -> [String] {
        try await withArchive { repository in
            let commit = try Self.commit(id, repository)
            return try Self.reading(id, folder) {
                guard let tree = try repository.treeID(of: commit, path: folder) else { return [] }
                return try repository.entries(ofTree: tree, recursive: true).filter { $0.kind == .blob }.map(\.path)
                    .sorted()
            }
        }
    }

    static func commit(_ id: RunID, _ repository: Repository) throws -> OID {
        guard let commit = try repository.ref(ref(id)) else {
            throw ArchiveError.unknownRun(id)
        }
        return commit
    }

    static func report(_ id: RunID, _ commit: OID, _ repository: Repository) throws -> Report {
        let bytes = try need("report.json", id, commit, repository)
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
        try decode(RunRequest.self, "request.json", id, need("request.json", id, commit, repository))
    }

    static func tests(_ id: RunID, _ commit: OID, _ repository: Repository) throws -> [TestResult] {
        guard let bytes = try read("tests.json", id, commit, repository) else { return [] }
        return try decode([TestResult].self, "tests.json", id, bytes)
    }

    private static func need(
        _ path: String, _ id: RunID, _ commit: OID, _ repository: Repository
    ) throws -> [UInt8] {
        guard let bytes = try read(path, id, commit, repository) else { throw damaged(id, path, "it is missing.") }
        return bytes
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

    private static func decode<Value: Decodable>(
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
