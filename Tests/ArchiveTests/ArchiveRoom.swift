import Store
import Results
import Archive
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
        store = try ArchiveStore(home: folder.path + "/home", now: now)
        index = try Index.inMemory(now: now)
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

    /// Accepts, starts, archives and ends a run.
    @discardableResult
    func completed(
        _ request: RunRequest = Sample.request(), verdict: Verdict = .passed, artifacts: [ArtifactRecord] = [],
        endedAt: Date = Sample.start.addingTimeInterval(12.5), approvals: [Approval]? = nil
    ) async throws -> RunID {
        let id = try await index.accept(request).run.id
        try await index.markRunning(id)
        var report = Sample.report(id, request, verdict: verdict, artifacts: artifacts, endedAt: endedAt)
        report.approvals = approvals
        let archived = try await store.write(report, request: request, tests: Sample.tests, files: files())
        try await index.finish(report, tests: Sample.tests, archivedBytes: archived.bytes)
        return id
    }

    /// Replaces one file of an archived run, as a foreign hand would.
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
