import DaemonLog
import Watching
import Preparing
import Concurrency
import Secrets
import Workspaces
import StateFiles
import Masking
import Results
import Store
import Engine
import Foundation
import Logging
import Pipeline
import Sandbox
import WorkflowPrograms

/// The phase that provides the surroundings of steps: sandbox, workspace, secrets, and the input of reviewers and
/// fixers.
struct ProvidePhase: Sendable {
    let sandbox: SandboxSource
    let workspaces: WorkspaceProvider
    let reviews: ReviewMaterial
    let fixer: FixerWorkspace
    let log: Logger

    /// The surroundings of a run while its steps run; ``ProvidePhase/close(_:_:_:outcome:)`` takes them back.
    struct Provided: Sendable {
        let enclosed: RunSandboxLease
        let lease: WorkspaceProvider.Lease
        let secrets: RunSecrets
        /// By step.
        let reviews: [String: ReviewInput]
        let fix: FixBeginning?
    }

    /// - Throws: ``EarlyVerdict`` for unmerged code without a sandbox; errors of Git or the disk. Then nothing is left
    ///   to give back.
    func provide(_ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs) async throws -> Provided {
        try await makeFolders(task, prepared)
        let secrets = try await sandbox.secrets(for: prepared, of: task.run)
        let run = prepared.preparedRun(task)
        let enclosed = try sandbox.lease(run, at: task.place)
        let lease: WorkspaceProvider.Lease
        do {
            lease = try await workspaces.provide(
                run, in: enclosed, at: task.place, isWhole: proofs.leaveAll(of: prepared.plan))
        } catch {
            enclosed.close(sandbox.sandboxing)
            throw error
        }
        do {
            let folder = task.place.folder
            return Provided(
                enclosed: enclosed, lease: lease, secrets: secrets,
                reviews: try await reviews.write(prepared, task.run, in: task.repository, folder: folder),
                fix: try await fixer.begin(prepared, task.run, in: task.repository, lease.workspace, folder: folder))
        } catch {
            await workspaces.abandon(lease)
            enclosed.close(sandbox.sandboxing)
            throw error
        }
    }

    private func makeFolders(_ task: RunTask, _ prepared: RunPreparation) async throws {
        let (folder, isOpen) = (task.place.folder, task.place.isOpen)
        try await offThread {
            if !isOpen {
                try FileManager.default.createDirectory(
                    atPath: LocalPlace.shown(in: folder), withIntermediateDirectories: true)
            }
            // Only closure steps read the context.
            guard prepared.plan.steps.contains(where: { $0.action == .closure }) else { return }
            try SmallFile.write(
                WorkflowProgram.contextData(prepared.context), to: RunSandboxLease.contextFile(in: folder),
                isForAll: true)
        }
    }

    /// Takes the fixer's commit, unmounts the workspace, and gives the sandbox back.
    func close(
        _ provided: Provided, _ task: RunTask, _ prepared: RunPreparation, outcome: inout RunOutcome
    ) async -> FinishedWorkspace {
        let (enclosed, lease) = (provided.enclosed, provided.lease)
        let fix = await fixer.end(
            provided.fix, &outcome, task.run, in: task.repository, lease.workspace, folder: task.place.folder)
        await workspaces.close(lease)
        var finished = FinishedWorkspace(
            workspace: lease.workspace, choice: lease.choice, prepared: prepared.preparedRun(task),
            hasPassed: outcome.verdict == .passed, isAllEnded: outcome.isAllEnded, user: enclosed.runSandbox?.user,
            objects: task.repository.source.objectFolders, resumed: lease.resumption?.kept.run, fix: fix)
        if finished.isAllEnded { finished.isAllEnded = enclosed.close(sandbox.sandboxing) }
        if !finished.isAllEnded {
            log.error(
                "run \(task.id): a process of it could not be ended; its user and caches stay in use until the daemon restarts",
                metadata: .code(.processSurvived, run: task.id)
            )
        }
        outcome.findings =
            (lease.notResumed.map { [$0] } ?? []) + provided.secrets.findings(for: prepared.plan) + outcome.findings
        return finished
    }

    /// Records that no step needed a workspace, so the run leaves no snapshot.
    func skip(_ task: RunTask, _ prepared: RunPreparation) async {
        _ = await workspaces.snapshots.leaving(prepared.preparedRun(task), isWhole: false)
    }
}

/// The source of runs' sandboxes and secrets.
struct SandboxSource: Sendable {
    let sandboxing: Sandboxing
    let state: StateFolder
    let options: BoxOptions

    /// - Throws: ``EarlyVerdict`` for unmerged code without a sandbox.
    func lease(_ run: PreparedRun, at place: RunDirectories) throws -> RunSandboxLease {
        do {
            return try RunSandboxLease.make(
                run, state: state, folders: options.folders, allowsUnsandboxed: options.allowsUnsandboxed,
                sandboxing: sandboxing, place: place)
        } catch let error as SandboxUnavailable {
            throw EarlyVerdict(verdict: .infrastructure, reason: error.reason)
        }
    }

    /// The secrets that the run's steps name; none unless its code is merged.
    func secrets(for prepared: RunPreparation, of run: QueuedRun) async throws -> RunSecrets {
        guard prepared.trust == .merged, !run.request.options.isForAgent else { return .withheld }
        guard prepared.plan.steps.contains(where: { !$0.secrets.isEmpty }) else { return .none }
        return try await offThread { [state] in
            SecretStores(state: state).resolve(prepared.plan, repository: run.request.repository)
        }
    }
}
