import StateFiles
import SystemCalls
import Archive
import Results
import Store
import Engine
import Foundation
import Git
import Logging
import Pipeline

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Which snapshot a run begins from, and which it leaves.
struct SnapshotWorkspaces: Sendable {
    let bases: BaseStore
    /// The compiler and the packages of the machine: a snapshot made with others is not used.
    let tools: String
    /// Whether workspaces can be laid over others here, and have room.
    let isPossible: Bool
    let events: EventStream
    let log: Logger

    /// Chooses the base with the smallest difference to the tested tree, and decides whether the run leaves one.
    ///
    /// - Parameter isWhole: Whether all steps of the plan are run, but for those that leave nothing.
    func choose(
        _ prepared: RunPreparation, _ run: QueuedRun, _ repository: WatchedRepository, isWhole: Bool
    ) async -> SnapshotChoice {
        guard let key = baseKey(prepared, run) else { return .none }
        var choice = SnapshotChoice(leaves: await leaving(prepared, run, isWhole: isWhole))
        guard !run.request.beginsFromNothing else {
            choice.cold = ColdReason.text(run.request)
            return choice
        }
        await giveUpAbandoned(key, repository)
        let (store, tested, plan) = (repository.store, prepared.tree, prepared.wholePlan.baseDigest)
        choice.use = await bases.take(key, plan: plan, leavesBase: choice.leaves != nil) { tree in
            try await withRepository(at: store) { try $0.differenceCount(from: tree, to: tested) }
        }
        if choice.use == nil { choice.cold = await bases.whyNone(key, plan: plan) }
        if choice.use == nil, let change = run.request.change, await !bases.has(key) {
            events.publish(.snapshotMissed(WantedBase(key: key, commit: change.targetCommit)))
        }
        return choice
    }

    /// Gives up bases of commits that are no longer on their branch: it was moved back, for what they were built from.
    private func giveUpAbandoned(_ key: BaseKey, _ repository: WatchedRepository) async {
        let commits = Set(await bases.all.filter { $0.key.isOfSameLine(as: key) }.map(\.commit))
        guard !commits.isEmpty else { return }
        let abandoned = try? await withRepository(at: repository.gitDirectory) { repository -> Set<String> in
            let tip = try repository.resolve("refs/heads/\(key.branch)")
            return commits.filter { commit in
                guard let id = OID(hex: commit), id != tip else { return false }
                do throws(GitError) { return try !repository.isAncestor(id, of: tip) } catch {
                    return error.code == .notFound
                }
            }
        }
        guard let abandoned, !abandoned.isEmpty else { return }
        // What they lie on may be of the branch still, and others may go on from it.
        let gone = await bases.remove { $0.key.isOfSameLine(as: key) && abandoned.contains($0.commit) }
        log.notice(
            "\(key.branch) was moved back: removed \(gone) warm workspaces of \(key.workflow) for commits that are no longer on it"
        )
    }

    /// Which base a run leaves when it passes; nil for none.
    ///
    /// Only merged code leaves one, and only a whole run of a workflow that changes run too: nobody else would begin
    /// from it. Where such a run can't, the box does it once more in its idle time.
    func leaving(_ prepared: RunPreparation, _ run: QueuedRun, isWhole: Bool) async -> BaseKey? {
        guard let key = baseKey(prepared, run), prepared.trust == .merged, run.request.change == nil,
            !run.request.isPartial, run.request.parameters.isEmpty, prepared.startsForChanges,
            // What was once on the branch is nothing to begin from.
            ![.bisect, .flakeProbe].contains(run.request.background)
        else { return nil }
        // A secret that a step wrote down would be there for every change to read. The box's own run of the workflow
        // leaves such steps out.
        if isWhole, prepared.plan.steps.allSatisfy(\.secrets.isEmpty) { return key }
        events.publish(.snapshotMissed(WantedBase(key: key, commit: prepared.tested.hex)))
        return nil
    }

    private func baseKey(_ prepared: RunPreparation, _ run: QueuedRun) -> BaseKey? {
        guard isPossible, let branch = run.request.branch else { return nil }
        return BaseKey(
            repository: run.request.repository, workflow: run.request.workflow, branch: branch,
            definition: prepared.definition.tree, tools: tools)
    }

    /// Makes a base of what a passed run left; whatever stands in the way costs the next run its warmth and nothing else.
    ///
    /// Only after ``Workspace/close()``.
    private func leaveBase(
        _ key: BaseKey, _ workspace: Workspace, _ prepared: RunPreparation, _ run: QueuedRun, over use: BaseUse?,
        store: String
    ) async {
        guard let upper = workspace.upper, let index = workspace.index else { return }
        do {
            let place = try bases.makePlace(for: run)
            do {
                let sealing = LayerSealing(
                    layer: upper, lower: workspace.layers, results: prepared.plan.resultGlobs)
                let tree = prepared.tree
                let restored = try await withRepository(at: store) { try sealing.seal(tree: tree, in: $0) }
                let base = try await offThread {
                    let isClean = !workspace.isOverBase
                    var base = Base(
                        key: key, plan: prepared.wholePlan.baseDigest, folder: (place as NSString).lastPathComponent,
                        run: run.id,
                        commit: prepared.tested.hex, tree: tree.hex, layers: [], index: "\(place)/index", bytes: 0,
                        createdAt: Date(), cleanAt: isClean ? Date() : use?.base.cleanAt ?? Date(), isClean: isClean,
                        boot: Boot.id)
                    if restored.isEmpty {
                        try FileManager.default.moveItem(atPath: index, toPath: base.index)
                    } else {
                        try Repository.writeIndex(patching: index, with: restored, to: base.index)
                    }
                    base.layers = [try moved(upper, to: "\(place)/written")]
                    // Those of the base below stay where they are.
                    base.layers += try workspace.layers.map { layer in
                        layer.path.hasPrefix(workspace.folder + "/") ? try moved(layer, to: "\(place)/tree") : layer
                    }
                    base.bytes = WorkspaceMeter.size(of: place)
                    guard base.bytes < WorkspaceMeter.uncounted else { throw FolderTooDeep() }
                    return base
                }
                try await bases.add(base)
                log.debug(
                    "run \(run.id) left a warm workspace of \(base.layers.count) layers, \(base.bytes >> 20) MiB, for \(key.workflow) on \(key.branch)"
                )
            } catch {
                if BoxTools.isDiskFull(error) {
                    let taken = try? await offThread { [place, workspace.folder].map(WorkspaceMeter.size) }
                    if let taken, taken.allSatisfy({ $0 < WorkspaceMeter.uncounted }) {
                        await bases.noteLoss(run.id, needing: 2 * taken.reduce(0, +))
                    }
                }
                try? await offThread { try FolderRemoval.remove(place) }
                throw error
            }
        } catch {
            log.notice(
                "run \(run.id) left no warm workspace; the next runs start from an older or a fresh one: \(error)")
        }
    }

    /// Leaves the snapshot that was promised, and gives back the one below. Nobody waits for it: the verdict is recorded.
    ///
    /// Nothing of the run may live.
    func release(_ finished: FinishedWorkspace, _ run: QueuedRun, store: String) async {
        let choice = finished.choice
        if let key = choice.leaves, finished.hasPassed {
            await leaveBase(key, finished.workspace, finished.prepared, run, over: choice.use, store: store)
        }
        await bases.giveBack(choice.use)
    }

    /// Gives up a snapshot over which no workspace could be laid: all that follow would try it, too. Nor does the run
    /// leave one.
    func giveUp(_ choice: SnapshotChoice, _ run: RunID) async {
        guard let base = choice.use?.base else { return }
        await bases.remove { $0.folder == base.folder }
        await bases.noteLoss(run)
    }
}

private func moved(_ layer: Layer, to path: String) throws -> Layer {
    guard rename(layer.path, path) == 0 else { throw SystemFailure("rename") }
    return Layer(path: path, owner: layer.owner, group: layer.group)
}

extension Plan {
    /// Which files its steps leave for the report.
    fileprivate var resultGlobs: [Glob] {
        let results = steps.flatMap(\.testResults).compactMap { source in
            switch source {
            case .junit(let pattern), .swiftTestingEvents(let pattern), .file(let pattern): pattern
            case .swiftPMConsole: nil
            }
        }
        return (results + steps.flatMap(\.artifacts)).compactMap { try? Glob($0) }
    }
}

extension RunPreparation {
    /// Whether changes run the same workflow.
    var startsForChanges: Bool { declaration.triggers.contains { $0.event == .pullRequest } }
}
