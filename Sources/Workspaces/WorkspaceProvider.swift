package import Layers
import DaemonLog
package import Results
import Store
import Archive
package import Logging
import Sandbox
import Engine

/// Provides the workspace of a run: over a retained one, over a snapshot, or fresh.
package struct WorkspaceProvider: Sendable {
    /// Workspaces over snapshots.
    package let snapshots: SnapshotWorkspaces
    let retained: RetainedWorkspaces
    /// How layers are mounted; nil if that is not possible here.
    package let layering: Layering?
    let log: Logger

    package init(
        snapshots: SnapshotWorkspaces, retained: RetainedWorkspaces, layering: Layering?, log: Logger
    ) {
        self.snapshots = snapshots
        self.retained = retained
        self.layering = layering
        self.log = log
    }

    /// A workspace on loan. Call ``WorkspaceProvider/close(_:)`` after the last step, and
    /// ``WorkspaceProvider/release(_:in:report:)`` once the verdict is recorded.
    package struct Lease: Sendable {
        /// The workspace that the run works in.
        package let workspace: Workspace
        /// The snapshot that was chosen, or why none was.
        package let choice: SnapshotChoice
        /// The retained workspace that it starts from; nil if it starts from none.
        package let resumption: Resumption?
        /// Why the run does not use the retained workspace that it asked for.
        package let notResumed: Finding?
    }

    /// - Parameters:
    ///   - enclosed: The sandbox of the run. Without a sandbox no snapshot is used.
    ///   - isWhole: Whether the workspace will have the outputs of all steps of the plan.
    /// - Throws: Errors of Git, of the disk, or about a damaged retained workspace. There is nothing to give back then.
    package func provide(
        _ prepared: PreparedRun, in enclosed: RunSandboxLease, at place: RunDirectories, isWhole: Bool
    ) async throws -> Lease {
        let (resumption, notResumed) = await retained.resumption(prepared)
        let choice =
            enclosed.runSandbox == nil || resumption != nil
            ? .none : await snapshots.choose(prepared, isWhole: isWhole)
        do {
            let workspace = try await workspace(prepared, enclosed, place, resumption, choice)
            log.debug(
                "run \(prepared.run.id): \(workspace.account)",
                metadata: .code(.workspaceProvided, run: prepared.run.id))
            if let problem = workspace.problem {
                log.warning(
                    "run \(prepared.run.id) starts from a checkout, because no warm workspace could be used: \(problem)",
                    metadata: .code(.snapshotUnusable, run: prepared.run.id)
                )
                await snapshots.giveUp(choice, prepared.run.id)
            }
            return Lease(workspace: workspace, choice: choice, resumption: resumption, notResumed: notResumed)
        } catch {
            await snapshots.snapshotStore.giveBack(choice.use)
            await retained.store.giveBack(resumption?.workspace)
            throw error
        }
    }

    private func workspace(
        _ prepared: PreparedRun, _ enclosed: RunSandboxLease, _ place: RunDirectories, _ resumption: Resumption?,
        _ choice: SnapshotChoice
    ) async throws -> Workspace {
        let user = enclosed.runSandbox?.user
        if let resumption { return try await retained.resume(resumption.workspace, at: place, user: user) }
        return try await Workspace.make(
            at: place.workspace, commit: prepared.commit, store: prepared.repository.store,
            base: choice.use?.snapshot.workspaceBase, user: user, keepsLayers: choice.leaves != nil, layering: layering,
            isOpen: enclosed.standby != nil, opened: enclosed.holder)
    }

    /// Unmounts the workspace and gives back the retained one below it. No process of the run may use it any more.
    package func close(_ lease: Lease) async {
        await lease.workspace.close()
        await retained.store.giveBack(lease.resumption?.workspace)
    }

    /// Gives everything back if the run could not start.
    package func abandon(_ lease: Lease) async {
        await close(lease)
        await snapshots.snapshotStore.giveBack(lease.choice.use)
    }

    /// Retains the workspace of a failed run, or leaves a snapshot of a passed one, and gives back what is below.
    ///
    /// - Parameter report: The recorded report; nil if there is none: then the run leaves nothing.
    package func release(_ finished: FinishedWorkspace, in place: RunDirectories, report: Report?) async {
        // A process that is still alive may write to the layers, so they are not touched.
        guard finished.isAllEnded else { return }
        var finished = finished
        if let report {
            await retained.retain(finished, report, folder: place.folder)
        } else {
            finished.hasPassed = false
        }
        await snapshots.release(finished)
    }
}
