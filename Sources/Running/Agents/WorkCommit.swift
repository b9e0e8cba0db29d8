import Concurrency
import Control
import Engine
import Evaluating
import Foundation
import Git
import Preparing
import Results
import Sandbox
import TerminalText
import TestIntegrity
import Watching

/// Makes a commit of what a fixer or another agent left. Both work in the same way; only what becomes of it differs.
struct WorkCommit: Sendable {
    /// Reads the Swift files that were changed.
    let reader: any SwiftSourceReader
    let harvest: WorkHarvest

    struct Made: Sendable {
        var commit: OID
        /// Compared with ``WorkHarvest/before``.
        var files: [FileChange]

        var additions: Int { files.reduce(0) { $0 + $1.additions } }
        var deletions: Int { files.reduce(0) { $0 + $1.deletions } }
    }

    /// Creates a folder of the run that no step can reach.
    static func scratch(in folder: String) async throws -> String {
        let path = "\(folder)/work"
        try await offThread {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        return path
    }

    /// Makes the commit, and the ref that keeps it unless it breaks a rule of tests; nil if nothing was left that may be
    /// committed.
    func make(
        since scan: WorkspaceScan, from view: String, by name: String, message: String, ref: String,
        in repository: WatchedRepository
    ) async throws -> (WorkHarvest.Result, Made?) {
        let harvest = harvest
        var (result, made) = try await withRepository(at: repository.store) { store -> (WorkHarvest.Result, Made?) in
            let result = try harvest.take(since: scan, from: view, into: store)
            guard let tree = result.tree else { return (result, nil) }
            let author = Signature(name: name, email: FixCommit.address, time: Date())
            let commit = try store.createCommit(
                tree: tree, parents: [harvest.head], author: author, committer: author, message: message)
            return (result, Made(commit: commit, files: try store.diff(from: harvest.before, to: commit)))
        }
        guard let commit = made?.commit else { return (result, nil) }
        result.breaches = try await harvest.breaches(of: commit, in: repository.store, reader)
        if result.breaches.isEmpty {
            try await withRepository(at: repository.store) {
                try $0.setRef(ref, to: commit, message: "pipectl: \(harvest.words.work)")
            }
        }
        return (result, made)
    }

    /// The commit as a patch for `git am`, stored as an artifact of the run.
    ///
    /// - Parameter name: The step's name, and the file's without its ending.
    static func patch(
        from head: OID, to commit: OID, named name: String, in repository: WatchedRepository, folder: String
    ) async throws -> ArtifactRecord {
        var environment = ["PATH": "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin", "LC_ALL": "C"]
        (environment["GIT_CONFIG_NOSYSTEM"], environment["GIT_CONFIG_GLOBAL"]) = ("1", "/dev/null")
        let made = try await ExternalCommand(
            "git",
            [
                "-C", repository.store, "format-patch", "--stdout", "--binary", "--no-signature", "--no-ext-diff",
                "--no-textconv", "--no-renames", "\(head.hex)..\(commit.hex)",
            ], environment: environment, deadline: .seconds(120), outputLimit: 4 * FixLimits.bytes
        ).run()
        guard made.succeeded, made.droppedBytes == 0 else {
            throw RequestError(.missingTool, "git format-patch: \(TerminalText.name(made.text, limit: 300))")
        }
        let digest = BytesDigest.sha256(made.output)
        let artifacts = "\(folder)/artifacts"
        try await offThread {
            try FileManager.default.createDirectory(atPath: artifacts, withIntermediateDirectories: true)
            try Data(made.output).write(to: URL(fileURLWithPath: "\(artifacts)/\(digest)"))
        }
        return ArtifactRecord(step: name, path: "\(name).patch", bytes: made.output.count, sha256: digest)
    }
}

extension WorkWords {
    /// Why work with breaches is refused, in one sentence.
    func refusal(_ breaches: [Breach]) -> String {
        let isOfPaths = breaches.allSatisfy { $0.kind == .touchedPath }
        let more = breaches.count > 1 ? ", and \(breaches.count - 1) more" : ""
        return "the \(work) was refused\(isOfPaths ? "" : " because it weakens tests"): "
            + "\(breaches.first?.message ?? "")\(more)"
    }

    /// What was made, in one sentence.
    func account(_ made: WorkCommit.Made) -> String {
        "the \(worker) changed \(made.files.count == 1 ? "1 file" : "\(made.files.count) files") "
            + "(+\(made.additions) −\(made.deletions)): commit \(made.commit.hex.prefix(10))"
    }
}
