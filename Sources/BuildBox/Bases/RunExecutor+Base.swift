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

/// What a run begins from, and what it leaves for others to begin from.
struct Beginning: Sendable {
    /// Nil: from nothing.
    var use: BaseUse?
    /// The base that the run leaves when it passes; nil for none.
    var leaves: BaseKey?
    /// Why it begins from nothing; nil where it does not, or where no run of it could do otherwise.
    var cold: String?

    static let nothing = Beginning()
}

/// What a run's workspace is good for after its last step.
struct RunRemains: Sendable {
    var workspace: Workspace
    var beginning: Beginning
    var prepared: RunPreparation
    var hasPassed: Bool
    /// Whether nothing of the run lives: what does may write to its layers, and keeps those below.
    var isAllEnded: Bool
    /// Whom its steps were; nil where they were the box's own user.
    var user: StepUser?
    /// Where the workspace's Git finds its objects.
    var objects: [String] = []
    /// The run whose workspace it went on with.
    var resumed: RunID?
    /// What a fixer came to; nil in all other runs.
    var fix: FixRecord?

    var base: Report.Base? { workspace.isOverBase ? beginning.use?.reported : nil }
    /// Why it began from nothing, where that is known.
    var cold: String? { workspace.isOverBase || resumed != nil ? nil : beginning.cold }
}

extension RunExecutor {
    /// Chooses the base with the smallest difference to the tested tree, and decides whether the run leaves one.
    ///
    /// - Parameter isWhole: Whether all steps of the plan are run, but for those that leave nothing.
    func beginning(
        _ prepared: RunPreparation, _ run: QueuedRun, _ repository: WatchedRepository, isWhole: Bool
    ) async -> Beginning {
        guard let key = baseKey(prepared, run) else { return .nothing }
        var beginning = Beginning(leaves: await leaving(prepared, run, isWhole: isWhole))
        guard !run.request.beginsFromNothing else {
            beginning.cold = ColdReason.text(run.request)
            return beginning
        }
        await giveUpAbandoned(key, repository)
        let (store, tested, plan) = (repository.store, prepared.tree, prepared.wholePlan.baseDigest)
        beginning.use = await bases.take(key, plan: plan, leavesBase: beginning.leaves != nil) { tree in
            try await withRepository(at: store) { try $0.differenceCount(from: tree, to: tested) }
        }
        if beginning.use == nil { beginning.cold = await bases.whyNone(key, plan: plan) }
        if beginning.use == nil, let change = run.request.change, await !bases.has(key) {
            events.publish(.snapshotMissed(WantedBase(key: key, commit: change.targetCommit)))
        }
        return beginning
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
            run.request.upkeep != .bisect, run.request.upkeep != .learn
        else { return nil }
        // A secret that a step wrote down would be there for every change to read. The box's own run of the workflow
        // leaves such steps out.
        if isWhole, prepared.plan.steps.allSatisfy(\.secrets.isEmpty) { return key }
        events.publish(.snapshotMissed(WantedBase(key: key, commit: prepared.tested.hex)))
        return nil
    }

    private func baseKey(_ prepared: RunPreparation, _ run: QueuedRun) -> BaseKey? {
        guard sandboxing.layering != nil, options.baseBytes > 0, let branch = run.request.branch else { return nil }
        return BaseKey(
            repository: run.request.repository, workflow: run.request.workflow, branch: branch,
            definition: prepared.definition.tree, tools: programs.tools)
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

    /// What is left to do with a workspace once the run's verdict is recorded: nobody waits for it any more.
    func settle(_ remains: RunRemains?, _ run: QueuedRun, store: String) async {
        guard let remains, remains.isAllEnded else { return }
        let beginning = remains.beginning
        if let key = beginning.leaves, remains.hasPassed {
            await leaveBase(key, remains.workspace, remains.prepared, run, over: beginning.use, store: store)
        }
        await bases.giveBack(beginning.use)
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
