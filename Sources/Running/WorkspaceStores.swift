package import Preparing
package import Workspaces
package import StateFiles
package import Logging
import Synchronization

/// The workspaces on this machine: snapshots, what failed runs left, sandboxes that wait for a run, and folders that are
/// to be removed.
package final class WorkspaceStores: Sendable {
    /// The workspaces that runs begin from.
    package let bases: SnapshotStore
    /// What failed runs left.
    package let kept: RetainedWorkspaceStore
    private let log: Logger
    private let running = Mutex<(sandboxPool: SandboxPool?, reaper: DirectoryReaper?)>((nil, nil))

    package init(_ folder: StateFolder, _ options: BoxOptions, log: Logger) {
        self.log = log
        let found = RetainedWorkspaceStore.find(in: folder.kept, bases: folder.bases)
        bases = SnapshotStore(
            folder: folder.bases, limit: options.baseBytes, log: log,
            held: found.flatMap { $0.folders(below: folder.bases) })
        kept = RetainedWorkspaceStore(
            folder: folder.kept, lifetime: options.keepFailed, limit: options.keptBytes, found: found, bases: bases,
            log: log)
    }

    /// Sandboxes that wait for a run; nil unless ``keep(_:)`` goes on: a process that runs one thing has no use for them.
    var sandboxPool: SandboxPool? { running.withLock { $0.sandboxPool } }
    /// Removes the folders of ended runs; nil unless ``keepSweeping()`` goes on, or has.
    package var reaper: DirectoryReaper? { running.withLock { $0.reaper } }

    /// Has sandboxes made ready for runs to come, until the task is cancelled.
    package func keep(_ sandboxPool: SandboxPool) async {
        running.withLock { $0.sandboxPool = sandboxPool }
        await sandboxPool.run()
        running.withLock { $0.sandboxPool = nil }
    }

    /// Removes what ended runs left, until the task is cancelled.
    package func keepSweeping() async {
        let made = DirectoryReaper()
        running.withLock { $0.reaper = made }
        await made.run()
    }

    /// Ends and removes what nobody came for in time.
    package func expire() async {
        await sandboxPool?.endIdle()
        await kept.expire()
    }

    /// Where the disk is short, gives up what nobody wants, and then what only saves time.
    ///
    /// - Returns: Whether there is space for a run.
    package func makeSpace(_ health: Health) async -> Bool {
        if health.hasSpace() { return true }
        await reaper?.removeAll()
        if health.hasSpace() { return true }
        let workspaces = await kept.removeAll()
        if workspaces > 0 {
            log.warning("removed \(workspaces) retained workspaces of failed runs to free disk space")
        }
        let count = await bases.remove(.whenThereIsRoom) { _ in true }
        if count > 0 { log.warning("removed \(count) warm workspaces to free disk space") }
        return health.hasSpace()
    }
}
