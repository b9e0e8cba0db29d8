import Layers
import Engine
import MachinePool
import Pipeline
import Results
import Sandbox
package import StateFiles
import Store
import SystemPackage

/// Prepares places on the machine of the daemon: a sandbox, and a workspace from ``WorkspaceProvider``.
package struct LocalPlaces: PlaceProvider {
    let sandboxing: Sandboxing
    let state: StateFolder
    let folders: SandboxFolders
    /// Whether unmerged code may run although there is no sandbox.
    let allowsUnsandboxed: Bool
    /// The `stepinit` program.
    let stepInit: String
    let workspaces: WorkspaceProvider
    /// Makes sandboxes ready for the runs that follow; nil where nothing is made ready.
    let sandboxPool: SandboxPool?

    package init(
        sandboxing: Sandboxing, state: StateFolder, folders: SandboxFolders, allowsUnsandboxed: Bool, stepInit: String,
        workspaces: WorkspaceProvider, sandboxPool: SandboxPool? = nil
    ) {
        self.sandboxing = sandboxing
        self.state = state
        self.folders = folders
        self.allowsUnsandboxed = allowsUnsandboxed
        self.stepInit = stepInit
        self.workspaces = workspaces
        self.sandboxPool = sandboxPool
    }

    package func provide(_ order: PlaceOrder) async throws -> any ProvidedPlace {
        try ThisMachine.check(order.needs)
        let enclosed = try RunSandboxLease.make(
            order.run, state: state, folders: folders, allowsUnsandboxed: allowsUnsandboxed, sandboxing: sandboxing,
            place: order.directories)
        do {
            let lease = try await workspaces.provide(
                order.run, in: enclosed, at: order.directories, isWhole: order.isWhole)
            return ProvidedLocalPlace(
                place: place(order, enclosed, lease.workspace), places: self, order: order, enclosed: enclosed,
                lease: lease)
        } catch {
            enclosed.close(sandboxing)
            throw error
        }
    }

    package func skip(_ run: PreparedRun) async { _ = workspaces.snapshots.leaving(run, isWhole: false) }

    package func isWarm(_ run: PreparedRun) async -> Bool { await workspaces.snapshots.isWarm(run) }

    private func place(_ order: PlaceOrder, _ enclosed: RunSandboxLease, _ space: Workspace) -> LocalPlace {
        let folder = order.directories.folder
        let contextFile =
            enclosed.runSandbox != nil && Sandbox.hasMounts
            ? Sandbox.Place.context : RunSandboxLease.contextFile(in: folder)
        var place = LocalPlace(
            workspace: FilePath(space.path), folder: FilePath(folder), stepInit: FilePath(stepInit),
            closureCommand: { [command = order.closureCommand] in command($0, contextFile) })
        place.workspaceMount = space.mount
        place.runSandbox = enclosed.runSandbox
        // A sandbox that waited shows the folder that was there before. A checkout after failed layers is another one.
        place.standby = space.problem == nil ? enclosed.standby : nil
        place.controlGroups = sandboxing.controlGroups
        place.rooms = order.rooms
        if let sandboxPool, let count = order.nextPlaces, let wanted = enclosed.next(after: order.run, space) {
            place.launched = { sandboxPool.prepare(wanted, count: count()) }
        }
        return place
    }
}

/// A sandbox and a workspace of this machine that a run has.
private struct ProvidedLocalPlace: ProvidedPlace {
    let place: any RunPlace
    let places: LocalPlaces
    let order: PlaceOrder
    let enclosed: RunSandboxLease
    let lease: WorkspaceProvider.Lease

    var workspaceView: String? { lease.workspace.view }
    var resumption: Resumption? { lease.resumption }
    var findings: [Finding] { lease.notResumed.map { [$0] } ?? [] }
    // The next run could only read the caches that this one writes until its sandboxes have ended.
    var delaysNextRun: Bool { !enclosed.written.isEmpty }

    func close(hasPassed: Bool, isAllEnded: Bool) async -> any FinishedPlace {
        await places.workspaces.close(lease)
        let workspace = FinishedWorkspace(
            workspace: lease.workspace, choice: lease.choice, prepared: order.run, hasPassed: hasPassed,
            isAllEnded: isAllEnded && enclosed.close(places.sandboxing), user: enclosed.runSandbox?.user,
            objects: order.run.repository.objectFolders, resumed: lease.resumption?.workspace.run)
        return FinishedLocalPlace(workspace: workspace, workspaces: places.workspaces, directories: order.directories)
    }

    func abandon() async {
        await places.workspaces.abandon(lease)
        enclosed.close(places.sandboxing)
    }
}

/// A workspace of this machine after the last step.
private struct FinishedLocalPlace: FinishedPlace {
    let workspace: FinishedWorkspace
    let workspaces: WorkspaceProvider
    let directories: RunDirectories

    var base: Report.Base? { workspace.base }
    var cold: String? { workspace.cold }
    var resumed: RunID? { workspace.resumed }
    var isAllEnded: Bool { workspace.isAllEnded }

    func release(_ report: Report?) async { await workspaces.release(workspace, in: directories, report: report) }
}
