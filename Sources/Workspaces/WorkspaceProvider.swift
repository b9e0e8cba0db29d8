package import Results
import Store
import Archive
package import Logging
import Sandbox
import Engine

/// Provides the workspace of a run: over the one that it goes on with, over a snapshot, or fresh.
package struct WorkspaceProvider: Sendable {
    package let snapshots: SnapshotWorkspaces
    let retained: RetainedWorkspaces
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

    /// A workspace, and what has to be given back with it: ``WorkspaceProvider/close(_:)`` after the last step, and
    /// ``WorkspaceProvider/release(_:_:report:isRecorded:)`` once the verdict is recorded.
    package struct Lease: Sendable {
        package let workspace: Workspace
        package let choice: SnapshotChoice
        package let resumption: Resumption?
        /// Why the run does not go on with the workspace that it was to go on with.
        package let notResumed: Finding?
    }

    /// - Parameters:
    ///   - enclosed: The sandbox of the run; without one no snapshot is used.
    ///   - isWhole: Whether the workspace will have what all steps of the plan make.
    /// - Throws: What Git, the disk or a damaged retained workspace says. Nothing is left to give back then.
    package func provide(
        _ prepared: PreparedRun, in enclosed: RunEnclosure, at place: RunDirectories, isWhole: Bool
    ) async throws -> Lease {
        let (resumption, notResumed) = await retained.resumption(prepared)
        let choice =
            enclosed.enclosure == nil || resumption != nil
            ? .none : await snapshots.choose(prepared, isWhole: isWhole)
        do {
            let workspace = try await workspace(prepared, enclosed, place, resumption, choice)
            log.debug("run \(prepared.run.id): \(workspace.account)")
            if let problem = workspace.problem {
                log.warning(
                    "run \(prepared.run.id) starts from a checkout, because no warm workspace could be used: \(problem)"
                )
                await snapshots.giveUp(choice, prepared.run.id)
            }
            return Lease(workspace: workspace, choice: choice, resumption: resumption, notResumed: notResumed)
        } catch {
            await snapshots.bases.giveBack(choice.use)
            await retained.kept.giveBack(resumption?.kept)
            throw error
        }
    }

    private func workspace(
        _ prepared: PreparedRun, _ enclosed: RunEnclosure, _ place: RunDirectories, _ resumption: Resumption?,
        _ choice: SnapshotChoice
    ) async throws -> Workspace {
        let user = enclosed.enclosure?.user
        if let resumption { return try await retained.resume(resumption.kept, at: place, user: user) }
        return try await Workspace.make(
            at: place.workspace, commit: prepared.commit, store: prepared.repository.store,
            base: choice.use?.base.workspaceBase, user: user, keepsLayers: choice.leaves != nil, layering: layering,
            isOpen: enclosed.standby != nil, opened: enclosed.holder)
    }

    /// Ends the mount and lets go of the retained workspace below. Nothing of the run may work in it any more.
    package func close(_ lease: Lease) async {
        await lease.workspace.close()
        await retained.kept.giveBack(lease.resumption?.kept)
    }

    /// Gives everything back when the run never began.
    package func abandon(_ lease: Lease) async {
        await close(lease)
        await snapshots.bases.giveBack(lease.choice.use)
    }

    /// Retains the workspace of a run that failed, or leaves a snapshot of one that passed, and gives back what is below.
    ///
    /// - Parameter report: The recorded report; nil for a run without one, which leaves nothing that others begin from.
    package func release(_ finished: FinishedWorkspace, in place: RunDirectories, report: Report?) async {
        // A process that still lives may write to the layers, so nothing of it is touched.
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
