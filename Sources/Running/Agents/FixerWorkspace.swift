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
    var harvest: WorkHarvest
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
        let harvest = WorkHarvest(
            tested: prepared.tested, head: head, before: head, rules: prepared.declaration.integrity ?? [],
            scratch: try await WorkCommit.scratch(in: folder), words: .fix)
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
            let (result, made) = try await WorkCommit(reader: reader, harvest: beginning.harvest).make(
                since: beginning.scan, from: beginning.view, by: FixCommit.name,
                message: Self.message(beginning.role, run.request), ref: ref, in: repository)
            record.outcome = result.outcome
            record.leftOut = result.leftOut > 0 ? result.leftOut : nil
            guard let made else {
                fail(result.outcome, result.reason)
                return record
            }
            record.files = made.files.map(\.path)
            (record.additions, record.deletions) = (made.additions, made.deletions)
            if !result.breaches.isEmpty {
                outcome.findings += result.breaches.prefix(50).map { Finding($0, run: run.id) }
                let isOfPaths = result.breaches.allSatisfy { $0.kind == .touchedPath }
                fail(isOfPaths ? .refused : .weakensTests, beginning.harvest.words.refusal(result.breaches))
                return record
            }
            let patch = try await WorkCommit.patch(
                from: beginning.harvest.head, to: made.commit, named: "fix", in: repository, folder: folder)
            outcome.artifacts.append(patch)
            (record.commit, record.ref, record.patch) = (made.commit.hex, ref, patch.sha256)
            outcome.reason = beginning.harvest.words.account(made)
        } catch let problem as WorkspaceScan.Problem {
            fail(.refused, "the fix was refused: \(problem.description)")
        } catch {
            outcome.verdict = .infrastructure
            outcome.reason = "the fixer's changes could not be committed: \(error)"
        }
        return record
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
