import Evaluating
import Watching
import Preparing
import Control
import Archive
import Concurrency
import Reports
import Results
import Store
import TerminalText
import Engine
import Foundation
import Git
import TestIntegrity
import Logging
import Pipeline
import Sandbox

/// The state of the workspace before the fixer started.
struct FixBeginning: Sendable {
    var role: FixRole
    /// The path at which this machine sees the workspace.
    var view: String
    var scan: WorkspaceScan
    var harvest: FixHarvest
}

/// A fixer has to work on the machine of the daemon, which makes the commit.
struct FixerElsewhere: Error, CustomStringConvertible {
    var description: String { "a fixer can only work on the daemon's own machine" }
}

/// The workspace of a fixer: a run of one step in the failed run's files, from which the daemon makes a commit.
struct FixerWorkspace: Sendable {
    let index: Store.Index
    let store: ArchiveStore
    /// Makes the bundle, which says what must change before a run passes.
    let bundle: @Sendable (BundleRequest) async throws -> String
    /// Reads the Swift files that a fixer changed.
    let reader: any SwiftSourceReader

    /// Writes the fixer's input and records the state of its workspace; nil for all other runs.
    func begin(
        _ prepared: RunPreparation, _ run: QueuedRun, in repository: WatchedRepository, _ view: String?, folder: String
    ) async throws -> FixBeginning? {
        guard let role = run.request.fix, role.isMaking, let head = OID(hex: run.request.head) else { return nil }
        let harvest = FixHarvest(
            tested: prepared.tested, head: head, rules: prepared.declaration.integrity ?? [],
            scratch: try await scratch(in: folder))
        var earlier: [FixMaterial.Earlier] = []
        // The failed run's report may lack the latest attempt.
        let tried = FixSequence(run: role.of, parts: try await FixSequence.parts(of: role.of, index, store)).attempts
        for attempt in tried where attempt.number < role.attempt {
            var one = FixMaterial.Earlier(attempt: attempt)
            if let check = attempt.check {
                one.bundle = try? await bundle(
                    BundleRequest(run: check, bytes: FixMaterial.earlierBytes, format: .markdown))
            }
            if let made = attempt.commit.flatMap(OID.init(hex:)) {
                one.patch = try? await withRepository(at: repository.store) {
                    try $0.patch(from: head, to: made, maximumBytes: FixMaterial.patchBytes)
                }
            }
            earlier.append(one)
        }
        func failed(_ format: BundleFormat) async throws -> String {
            try await bundle(BundleRequest(run: role.of, bytes: FixMaterial.bundleBytes, format: format))
        }
        let material = FixMaterial(
            role: role, request: run.request, markdown: try await failed(.markdown), json: try await failed(.json),
            earlier: earlier, minutes: Int(((prepared.declaration.fix?.timeout ?? 600) / 60).rounded(.up)))
        guard let view else { throw FixerElsewhere() }
        let scan = try await withRepository(at: repository.store) { store in
            try material.write(to: LocalPlace.values(in: folder))
            return try harvest.scan(view, store: store)
        }
        return FixBeginning(role: role, view: view, scan: scan, harvest: harvest)
    }

    private func scratch(in folder: String) async throws -> String {
        let path = "\(folder)/fix"
        try await offThread {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        return path
    }

    /// Makes a commit of the files that the fixer has left; the run passes only if there is one.
    ///
    /// Call it before the workspace is closed, when no process of the run is alive.
    func end(
        _ beginning: FixBeginning?, _ outcome: inout RunOutcome, _ run: QueuedRun, in repository: WatchedRepository,
        folder: String
    ) async -> FixRecord? {
        guard let beginning else { return nil }
        var record = FixRecord(role: beginning.role)
        func fail(_ kind: FixOutcome, _ reason: String) {
            record.outcome = kind
            (outcome.verdict, outcome.reason) = (.failed, reason)
        }
        if outcome.verdict == .failed { record.outcome = .failed }
        guard outcome.verdict == .passed else { return record }
        guard outcome.isAllEnded else {
            fail(.refused, "the fix was refused: a process of the fixer could not be ended")
            return record
        }
        do {
            let ref = Self.ref(beginning.role, run)
            let (result, made) = try await commit(beginning, run, ref, in: repository)
            record.outcome = result.outcome
            record.leftOut = result.leftOut > 0 ? result.leftOut : nil
            guard let made else {
                fail(result.outcome, result.reason)
                return record
            }
            record.files = made.files.map(\.path)
            let additions = made.files.reduce(0) { $0 + $1.additions }
            let deletions = made.files.reduce(0) { $0 + $1.deletions }
            (record.additions, record.deletions) = (additions, deletions)
            if !result.breaches.isEmpty {
                outcome.findings += result.breaches.prefix(50).map { Finding($0, run: run.id) }
                let isOfPaths = result.breaches.allSatisfy { $0.kind == .touchedPath }
                fail(isOfPaths ? .refused : .weakensTests, Self.refusal(result.breaches, isOfPaths: isOfPaths))
                return record
            }
            let patch = try await patch(of: made.commit, in: repository, folder: folder)
            outcome.artifacts.append(patch)
            (record.commit, record.ref, record.patch) = (made.commit.hex, ref, patch.sha256)
            outcome.reason =
                "the fixer changed \(made.files.count == 1 ? "1 file" : "\(made.files.count) files") "
                + "(+\(additions) −\(deletions)): commit \(made.commit.hex.prefix(10))"
        } catch let problem as WorkspaceScan.Problem {
            fail(.refused, "the fix was refused: \(problem.description)")
        } catch {
            outcome.verdict = .infrastructure
            outcome.reason = "the fixer's changes could not be committed: \(error)"
        }
        return record
    }

    private struct Made: Sendable {
        var commit: OID
        var files: [FileChange]
    }

    /// Makes the commit, and the ref that keeps it unless it breaks a rule of tests; nil if the fixer left nothing that
    /// may be committed.
    private func commit(
        _ beginning: FixBeginning, _ run: QueuedRun, _ ref: String, in repository: WatchedRepository
    ) async throws -> (FixHarvest.Result, Made?) {
        let (harvest, scan, view) = (beginning.harvest, beginning.scan, beginning.view)
        let message = Self.message(beginning.role, run.request)
        var (result, made) = try await withRepository(at: repository.store) { store -> (FixHarvest.Result, Made?) in
            let result = try harvest.take(since: scan, from: view, into: store)
            guard let tree = result.tree else { return (result, nil) }
            let author = Signature(name: FixCommit.name, email: FixCommit.address, time: Date())
            let commit = try store.createCommit(
                tree: tree, parents: [harvest.head], author: author, committer: author, message: message)
            return (result, Made(commit: commit, files: try store.diff(from: harvest.head, to: commit)))
        }
        guard let commit = made?.commit else { return (result, nil) }
        result.breaches = try await harvest.breaches(of: commit, in: repository.store, reader)
        if result.breaches.isEmpty {
            try await withRepository(at: repository.store) {
                try $0.setRef(ref, to: commit, message: "pipectl: fix")
            }
        }
        return (result, made)
    }

    private static func refusal(_ breaches: [Breach], isOfPaths: Bool) -> String {
        let more = breaches.count > 1 ? ", and \(breaches.count - 1) more" : ""
        return "the fix was refused\(isOfPaths ? "" : " because it weakens tests"): "
            + "\(breaches.first?.message ?? "")\(more)"
    }

    /// The commit as a patch for `git am`, stored as an artifact of the fixer's run.
    private func patch(
        of commit: OID, in repository: WatchedRepository, folder: String
    ) async throws -> ArtifactRecord {
        var environment = ["PATH": "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin", "LC_ALL": "C"]
        (environment["GIT_CONFIG_NOSYSTEM"], environment["GIT_CONFIG_GLOBAL"]) = ("1", "/dev/null")
        let made = try await ExternalCommand(
            "git",
            [
                "-C", repository.store, "format-patch", "--stdout", "--binary", "--no-signature", "--no-ext-diff",
                "--no-textconv", "--no-renames", "-1", commit.hex,
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
        return ArtifactRecord(step: "fix", path: "fix.patch", bytes: made.output.count, sha256: digest)
    }

    private static func message(_ role: FixRole, _ request: RunRequest) -> String {
        """
        Fix \(request.workflow)

        Made for run \(role.of), which failed, by the fixer of its workflow, and checked by
        a run of the same workflow before it was offered.

        \(FixCommit.trailer): run \(role.of), attempt \(role.attempt)

        """
    }

    private static func ref(_ role: FixRole, _ run: QueuedRun) -> String {
        FixCommit.refs + "\(run.request.change?.name ?? "none")/\(role.of)-\(role.attempt)"
    }
}
