import DaemonLog
package import Preparing
package import Workspaces
package import StateFiles
package import Logging
import Synchronization

/// The workspaces on this machine: snapshots, retained workspaces, standby sandboxes, and folders to remove.
package final class WorkspaceStores: Sendable {
    /// Snapshots, from which runs start.
    package let snapshots: SnapshotStore
    /// Retained workspaces of failed runs.
    package let retained: RetainedWorkspaceStore
    private let log: Logger
    private let running = Mutex<(sandboxPool: SandboxPool?, reaper: DirectoryReaper?)>((nil, nil))

    package init(_ folder: StateFolder, _ options: DaemonOptions, log: Logger) {
        self.log = log
        let found = RetainedWorkspaceStore.find(in: folder.retained, snapshots: folder.snapshots)
        snapshots = SnapshotStore(
            folder: folder.snapshots, record: folder.path + "/wrong-snapshots.json", limit: options.snapshotBytes,
            log: log,
            held: found.flatMap { $0.folders(below: folder.snapshots) })
        retained = RetainedWorkspaceStore(
            folder: folder.retained, lifetime: options.keepFailed, limit: options.retainedBytes, found: found,
            snapshots: snapshots,
            log: log)
    }

    /// Standby sandboxes; nil unless ``keep(_:)`` runs, since a process with a single run does not need any.
    var sandboxPool: SandboxPool? { running.withLock { $0.sandboxPool } }
    /// Removes the folders of ended runs; nil unless ``keepSweeping()`` runs or has run.
    package var reaper: DirectoryReaper? { running.withLock { $0.reaper } }

    /// Prepares sandboxes for later runs until the task is cancelled.
    package func keep(_ sandboxPool: SandboxPool) async {
        running.withLock { $0.sandboxPool = sandboxPool }
        await sandboxPool.run()
        running.withLock { $0.sandboxPool = nil }
    }

    /// Removes the folders of ended runs until the task is cancelled.
    package func keepSweeping() async {
        let made = DirectoryReaper()
        running.withLock { $0.reaper = made }
        await made.run()
    }

    /// Ends standby sandboxes and removes workspaces whose time is over.
    package func expire() async {
        await sandboxPool?.endIdle()
        await retained.expire()
    }

    /// If the disk is nearly full, removes workspaces that nobody uses, and then those that only save time.
    ///
    /// - Returns: Whether there is space for a run.
    package func makeSpace(_ health: Health) async -> Bool {
        if health.hasSpace() { return true }
        await reaper?.removeAll()
        if health.hasSpace() { return true }
        let workspaces = await retained.removeAll()
        if workspaces > 0 {
            log.warning(
                "removed \(workspaces) retained workspaces of failed runs to free disk space",
                metadata: .code(.retainedRemoved))
        }
        let count = await snapshots.remove(.whenThereIsRoom) { _ in true }
        if count > 0 {
            log.warning("removed \(count) warm workspaces to free disk space", metadata: .code(.snapshotsRemoved))
        }
        return health.hasSpace()
    }
}
