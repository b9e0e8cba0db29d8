import Concurrency
import Engine
import Foundation
import Git
import Layers
import MachineProtocol
import Pipeline
import Sandbox
import StateFiles
import SystemPackage

/// The workspace of one run on the agent's machine, with what it needs as long as it exists.
struct AgentWorkspace: Sendable {
    let place: LocalPlace
    let workspace: Workspace
    private let commit: OID
    private let mirror: Mirror.Held
    private let user: RunUser
    private let caches: RunCaches
    /// Where it may be kept as a snapshot, and the one that it lies over.
    private let snapshots: SnapshotFolder?
    private let below: SnapshotFolder.Use?

    /// - Parameters:
    ///   - run: The folder of the run, in which nothing is yet.
    ///   - layering: How workspaces are layered; nil if this one is a plain folder.
    /// - Throws: ``MachineProblem``; errors of the disk. Nothing is left then.
    static func make(
        _ order: WorkspaceOrder, _ service: AgentService, _ run: RunPlaceFolder, _ layering: Layering?
    ) async throws -> AgentWorkspace {
        if order.needsSandbox, service.sandbox.sandbox == nil {
            throw MachineProblem.noSandbox(service.sandbox.obstacle ?? "there is no sandbox")
        }
        guard let commit = OID(hex: order.commit) else {
            throw MachineProblem.other("a commit has a name that is no SHA-1")
        }
        let mirror = try await onOwnThread { try Mirror(order.repository, in: service.folder.mirrors).hold() }
        let user = try RunUser(in: service.folder)
        let caches = try RunCaches(order, user: user.user, in: service.folder)
        let snapshots = try order.snapshots.map { try SnapshotFolder($0.place, in: service.folder.snapshots) }
        let below = try await onOwnThread {
            SnapshotFolder.makeRoom(in: service.folder.snapshots)
            snapshots?.remove(order.snapshots?.unwanted ?? [])
            return order.snapshots?.name.flatMap { snapshots?.use($0) }
        }
        let workspace: Workspace
        do {
            workspace = try await Workspace.make(
                at: run.workspace, commit: commit, store: mirror.path, base: below?.record.source, user: user.user,
                keepsLayers: order.snapshots?.isKept ?? false, layering: snapshots == nil ? nil : layering)
            Mirror.touch(commit, mirror)
        } catch {
            try? await Workspace.remove(run.workspace)
            throw try await onOwnThread { Mirror.problem(error, writing: commit, mirror) }
        }
        if let below, workspace.problem != nil {
            // Every later run would fail on it, too.
            try? await onOwnThread { snapshots?.remove([below.record.name]) }
        }
        var place = LocalPlace(
            workspace: FilePath(workspace.path), folder: FilePath(run.place), stepInit: FilePath(service.stepInit))
        place.workspaceMount = workspace.mount
        place.controlGroups = service.sandbox.controlGroups
        if let sandbox = service.sandbox.sandbox {
            place.runSandbox = RunSandbox(
                sandbox: sandbox, user: user.user, mounts: [SandboxMount(mirror.objects, isOptional: true)],
                caches: caches.mounts)
        }
        return AgentWorkspace(
            place: place, workspace: workspace, commit: commit, mirror: mirror, user: user, caches: caches,
            snapshots: snapshots, below: below)
    }

    /// What the daemon is told of it.
    ///
    /// - Parameter tools: See ``MadeWorkspace/tools``.
    func account(of order: WorkspaceOrder, tools: String) -> MadeWorkspace {
        let isGone = order.snapshots?.name != nil && below == nil
        return MadeWorkspace(
            isWarm: workspace.isOverBase, problem: workspace.problem ?? (isGone ? "it is gone" : nil),
            tools: tools)
    }

    /// Keeps it as a snapshot, once no process of the run is alive. It is of no use to the run afterwards.
    func keep(_ order: KeepOrder) async throws -> KeptSnapshot {
        guard let folder = snapshots, workspace.upper != nil else {
            throw MachineProblem.other("there is no workspace that could be kept")
        }
        guard order.note.count <= KeepOrder.mostBytes else { throw MachineProblem.other("the note is too long") }
        let free = DiskSpace.free(at: folder.root) ?? .max
        guard free >= SnapshotFolder.leastFree else {
            throw MachineProblem.other("\(free >> 20) MiB are free on its disk, and 2 GiB are needed")
        }
        await workspace.close()
        let new = try folder.makePlace()
        do {
            let (store, commit) = (mirror.path, commit)
            let tree = try await withRepository(at: store) { try $0.treeID(of: commit) }
            let sealed = try await workspace.seal(
                into: new.path, tree: tree, store: store, results: order.results.compactMap { try? Glob($0) })
            guard let sealed else { throw MachineProblem.other("its files are in a plain folder") }
            try await onOwnThread {
                try folder.add(sealed, tree: tree, note: order.note, at: new, limit: max(order.limit, 0))
            }
            return KeptSnapshot(bytes: sealed.bytes)
        } catch {
            try? await onOwnThread { try FolderRemoval.remove(new.path) }
            throw error
        }
    }
}
