import TestBasics
@testable import Store
import Results
@testable import Archive
import Foundation
import Git
import Pipeline
import TestSupport
import Testing

/// An archive and an index in a folder of their own, and a run's files as the engine leaves them.
struct ArchiveRoom {
    let folder: TemporaryFolder
    let store: ArchiveStore
    let index: Index

    init(now: @escaping @Sendable () -> Date = { Sample.start }) throws {
        folder = try TemporaryFolder()
        index = try Index.inMemory(now: now)
        store = try ArchiveStore(home: folder.path + "/home", queue: index, now: now)
    }

    /// The SHA-256 of "abc".
    static let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    static let artifact = ArtifactRecord(step: "build", path: "bin/tool", bytes: 3, sha256: digest, isExecutable: true)

    func files() throws -> RunFiles {
        try folder.write("run/logs/001-1.log", Array("one\ntwo\n".utf8))
        try folder.write("run/logs/001-1.log.times", [1, 2, 3, 4])
        try folder.write("run/results/001-1-1-tests.xml", Array("<testsuites/>".utf8))
        try folder.write("run/artifacts/" + Self.digest, Array("abc".utf8))
        return RunFiles(
            logs: folder.path + "/run/logs", results: folder.path + "/run/results",
            resultFiles: ["001-1-1-tests.xml"], artifacts: folder.path + "/run/artifacts")
    }

    /// Accepts, starts and ends a run, and brings it into the archive.
    @discardableResult
    func completed(
        _ request: RunRequest = Sample.request(), verdict: Verdict = .passed, artifacts: [ArtifactRecord] = [],
        endedAt: Date = Sample.start.addingTimeInterval(12.5), approvals: [Approval]? = nil
    ) async throws -> RunID {
        let id = try await ended(
            request, verdict: verdict, artifacts: artifacts, endedAt: endedAt, approvals: approvals)
        #expect(try await store.export(from: index).problems.isEmpty)
        return id
    }

    /// Accepts, starts and ends a run; the archive does not have it yet.
    @discardableResult
    func ended(
        _ request: RunRequest = Sample.request(), verdict: Verdict = .passed, artifacts: [ArtifactRecord] = [],
        endedAt: Date = Sample.start.addingTimeInterval(12.5), approvals: [Approval]? = nil
    ) async throws -> RunID {
        let id = try await index.accept(request).run.id
        try await index.markRunning(id)
        var report = Sample.report(id, request, verdict: verdict, artifacts: artifacts, endedAt: endedAt)
        report.approvals = approvals
        try await store.record(report, request: request, tests: Sample.tests, files: files(), in: index)
        return id
    }

    /// Replaces one file of an archived run, as an attacker would.
    func tamper(_ id: RunID, _ file: String, _ bytes: [UInt8]) async throws {
        try await withRepository(at: store.repositoryPath) { repository in
            let old = try #require(try repository.ref("refs/runs/\(id)"))
            let tree = try repository.commit(old).tree
            var files: [String: TreeFile] = [:]
            for entry in try repository.entries(ofTree: tree, recursive: true) where entry.kind == .blob {
                files[entry.path] = .blob(entry.id)
            }
            files[file] = .blob(try repository.createBlob(bytes))
            let author = Signature(name: "mallory", email: "mallory@localhost", time: Sample.start)
            let commit = try repository.createCommit(
                tree: repository.createTree(files), parents: [], author: author, committer: author, message: "run")
            try repository.setRef("refs/runs/\(id)", to: commit, message: "tamper")
        }
    }

    /// The loose object file of one file of an archived run.
    func object(_ id: RunID, _ file: String) async throws -> String {
        try await withRepository(at: store.repositoryPath) { [path = store.repositoryPath] repository in
            let commit = try #require(try repository.ref("refs/runs/\(id)"))
            let hex = try #require(try repository.entry(file, at: commit)).id.hex
            return "\(path)/objects/\(hex.prefix(2))/\(hex.dropFirst(2))"
        }
    }
}

extension ArchiveStore {
    /// Adds a run to the archive like a process whose index was lost.
    ///
    /// - Returns: The run's commit, and the size of its files in bytes.
    @discardableResult
    func write(
        _ report: Report, request: RunRequest, tests: [TestResult] = [], files: RunFiles = RunFiles()
    ) async throws -> (commit: String, bytes: Int) {
        let other = try Index.inMemory()
        try await other.reserve(through: report.id - 1)
        try #require(try await other.accept(request).run.id == report.id)
        try await other.markRunning(report.id)
        try await record(report, request: request, tests: tests, files: files, in: other)
        let bytes = try await other.retentionRows().map(\.bytes).reduce(0, +)
        let outcome = try await export(from: other)
        if let problem = outcome.problems.first {
            throw ArchiveError(problem.kind == .contradiction ? .alreadyArchived : .damagedRun, problem.description)
        }
        let commit = try await refs().first { $0.id == report.id }?.commit
        return (try #require(commit).hex, bytes)
    }
}
