import Layers
import DaemonLog
import StateFiles
import SystemCalls
import Archive
import Concurrency
package import Results
import Store
import Foundation
import Git
package import Logging
import Pipeline
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Decides which snapshot a run starts from and which it leaves.
package struct SnapshotWorkspaces: Sendable {
    let snapshotStore: SnapshotStore
    /// The compiler and the packages of the machine: a snapshot made with others is not used.
    package let tools: String
    /// Whether workspaces can be layered here, and snapshots may use any space.
    let isPossible: Bool
    /// Called when a run missed a snapshot, or could not leave one.
    let missed: @Sendable (MissedSnapshot) -> Void
    let log: Logger

    package init(
        store: SnapshotStore, tools: String, isPossible: Bool, missed: @escaping @Sendable (MissedSnapshot) -> Void,
        log: Logger
    ) {
        self.snapshotStore = store
        self.tools = tools
        self.isPossible = isPossible
        self.missed = missed
        self.log = log
    }

    /// Chooses the snapshot with the smallest difference to the tested tree, and decides whether the run leaves one.
    ///
    /// - Parameter isWhole: Whether all steps of the plan run, except those that write nothing.
    func choose(
        _ prepared: PreparedRun, isWhole: Bool
    ) async -> SnapshotChoice {
        let run = prepared.run
        guard let key = snapshotKey(prepared) else { return .none }
        var choice = SnapshotChoice(leaves: leaving(prepared, isWhole: isWhole))
        guard !run.request.beginsFromNothing else {
            choice.cold = ColdReason.text(run.request)
            return choice
        }
        let here = await snapshotStore.all.map(\.facts)
        if let abandoned = await abandoned(key, among: here, prepared.repository) {
            // The snapshots below may belong to commits that are still on the branch, and other runs may start from
            // them.
            let gone = await snapshotStore.remove { $0.key.isOfSameLine(as: key) && abandoned.contains($0.commit) }
            log.notice(
                "\(key.branch) was moved back: removed \(gone) warm workspaces of \(key.workflow) for commits that are no longer on it",
                metadata: .code(.snapshotsRemoved, repository: key.repository)
            )
        }
        let plan = prepared.wholePlan.snapshotDigest
        choice.use = await snapshotStore.take(
            key, plan: plan, leavesBase: choice.leaves != nil, difference: prepared.difference)
        if choice.use == nil { choice.cold = await snapshotStore.whyNone(key, plan: plan) }
        if choice.use == nil, let change = run.request.change, await !snapshotStore.has(key) {
            missed(MissedSnapshot(key: key, commit: change.targetCommit))
        }
        return choice
    }

    /// Whether a run could start from a snapshot of the daemon's machine.
    func isWarm(_ prepared: PreparedRun) async -> Bool {
        guard let key = snapshotKey(prepared), !prepared.run.request.beginsFromNothing else { return false }
        return await snapshotStore.serves(key, plan: prepared.wholePlan.snapshotDigest)
    }

    /// The commits of snapshots that are no longer on their branch, because it was moved back; nil if there are none.
    func abandoned(
        _ key: SnapshotKey, among snapshots: [SnapshotFacts], _ repository: SourceRepository
    ) async -> Set<String>? {
        let commits = Set(snapshots.filter { $0.key.isOfSameLine(as: key) }.map(\.commit))
        guard !commits.isEmpty else { return nil }
        let abandoned = try? await withRepository(at: repository.gitDirectory) { repository -> Set<String> in
            let tip = try repository.resolve("refs/heads/\(key.branch)")
            return commits.filter { commit in
                guard let id = OID(hex: commit), id != tip else { return false }
                do throws(GitError) { return try !repository.isAncestor(id, of: tip) } catch {
                    return error.code == .notFound
                }
            }
        }
        guard let abandoned, !abandoned.isEmpty else { return nil }
        return abandoned
    }

    /// Which snapshot a run leaves when it passes; nil for none.
    ///
    /// Only a whole run of merged code leaves one, and only of a workflow that changes run, too: no other run would use
    /// it. If this run can't leave it, the daemon repeats the run when it is idle.
    ///
    /// - Parameter key: Of the machine that the run is on; nil for the daemon's.
    package func leaving(
        _ prepared: PreparedRun, isWhole: Bool, _ key: SnapshotKey? = nil, on machine: String? = nil
    ) -> SnapshotKey? {
        let run = prepared.run
        guard let key = key ?? snapshotKey(prepared), prepared.isMerged, run.request.change == nil,
            !run.request.isPartial, run.request.parameters.isEmpty, prepared.startsForChanges,
            // A commit that was on the branch in the past is of no use.
            ![.bisect, .flakeProbe].contains(run.request.background)
        else { return nil }
        // A step may have written a secret to a file, and every change could read it there. The daemon's own run of the
        // workflow leaves out steps with secrets.
        if isWhole, prepared.plan.steps.allSatisfy(\.secrets.isEmpty) { return key }
        missed(MissedSnapshot(key: key, commit: prepared.commit.hex, machine: machine))
        return nil
    }

    private func snapshotKey(_ prepared: PreparedRun) -> SnapshotKey? {
        isPossible ? prepared.snapshotKey(tools: tools) : nil
    }

    /// Makes a snapshot of the workspace of a passed run. If that fails, later runs only start slower.
    ///
    /// Only after ``Workspace/close()``.
    private func leaveSnapshot(
        _ key: SnapshotKey, _ workspace: Workspace, _ prepared: PreparedRun, over use: SnapshotUse?
    ) async {
        let run = prepared.run
        do {
            let place = try snapshotStore.makePlace(for: run)
            do {
                let sealed = try await workspace.seal(
                    into: place, tree: prepared.tree, store: prepared.repository.store,
                    results: prepared.plan.resultPatterns.compactMap { try? Glob($0) })
                guard let sealed else { return try await offThread { try FolderRemoval.remove(place) } }
                let snapshot = Snapshot(
                    prepared.facts(key, over: workspace.isOverBase ? use?.snapshot.facts : nil),
                    folder: (place as NSString).lastPathComponent, layers: sealed.layers, index: sealed.index,
                    bytes: sealed.bytes, boot: Boot.id)
                try await snapshotStore.add(snapshot)
                log.debug(
                    "run \(run.id) left a warm workspace of \(snapshot.layers.count) layers, \(snapshot.bytes >> 20) MiB, for \(key.workflow) on \(key.branch)",
                    metadata: .code(.snapshotTaken, run: run.id)
                )
            } catch {
                if DiskSpace.isExhausted(error) {
                    let taken = try? await offThread { [place, workspace.folder].map(WorkspaceMeter.size) }
                    if let taken, taken.allSatisfy({ $0 < WorkspaceMeter.uncounted }) {
                        await snapshotStore.noteLoss(run.id, needing: 2 * taken.reduce(0, +))
                    }
                }
                try? await offThread { try FolderRemoval.remove(place) }
                throw error
            }
        } catch {
            log.notice(
                "run \(run.id) left no warm workspace; the next runs start from an older or a fresh one: \(error)",
                metadata: .code(.snapshotFailed, run: run.id))
        }
    }

    /// Leaves the snapshot that was decided on, and gives back the one below. The verdict is recorded before that, so
    /// nobody waits for it.
    ///
    /// No process of the run may be alive.
    package func release(_ finished: FinishedWorkspace) async {
        let choice = finished.choice
        if let key = choice.leaves, finished.hasPassed {
            await leaveSnapshot(key, finished.workspace, finished.prepared, over: choice.use)
        }
        await snapshotStore.giveBack(choice.use)
    }

    /// Removes a snapshot that no workspace could be layered over, because every later run would fail on it, too. The
    /// run leaves no snapshot either.
    package func giveUp(_ choice: SnapshotChoice, _ run: RunID) async {
        guard let snapshot = choice.use?.snapshot else { return }
        await snapshotStore.remove { $0.folder == snapshot.folder }
        await snapshotStore.noteLoss(run)
    }
}

extension PreparedRun {
    /// Which snapshots the run may start from on a machine with these tools; nil if it is on no branch.
    func snapshotKey(tools: String) -> SnapshotKey? {
        let request = run.request
        return request.branch.map {
            SnapshotKey(
                repository: request.repository, workflow: request.workflow, branch: $0, definition: definition,
                tools: tools)
        }
    }

    /// How many entries of another tree differ from those of the tested one.
    var difference: @Sendable (_ tree: OID) async throws -> Int {
        { [store = repository.store, tree] other in
            try await withRepository(at: store) { try $0.differenceCount(from: other, to: tree) }
        }
    }

    /// What is known of the snapshot that the run leaves now.
    ///
    /// - Parameter below: The one that it started from; nil if it started fresh.
    func facts(_ key: SnapshotKey, over below: SnapshotFacts?) -> SnapshotFacts {
        let now = Date()
        return SnapshotFacts(
            key: key, plan: wholePlan.snapshotDigest, run: run.id, commit: commit.hex, tree: tree.hex, createdAt: now,
            cleanAt: below?.cleanAt ?? now, isClean: below == nil)
    }
}
