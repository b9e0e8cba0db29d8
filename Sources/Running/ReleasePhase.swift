import Layers
import DaemonLog
import Watching
import Preparing
import Workspaces
import StateFiles
import Results
import Store
import Archive
import Concurrency
import Git
import Logging
import Sandbox

/// The last phase: gives back what a run used, and removes its folders.
struct ReleasePhase: Sendable {
    let users: StepUsers
    /// Removes folders when that disturbs no run; nil if each run removes its own.
    let reaper: DirectoryReaper?
    let log: Logger

    /// - Parameters:
    ///   - finished: Nil if the run ended before it had a place.
    ///   - report: The recorded report; nil for a run without one.
    func release(_ finished: (any FinishedPlace)?, _ task: RunTask, report: Report?) async {
        await finished?.release(report)
        await closeSandbox(of: task.place)
        await unpinMerge(of: task)
        let isLeft = await reaper?.add { await removeFolders(of: task) } ?? false
        if !isLeft { await removeFolders(of: task) }
    }

    /// The same for a run that was put back. Its folders are removed at once, since it may start again at any moment.
    func putBack(_ finished: (any FinishedPlace)?, _ task: RunTask) async {
        await finished?.release(nil)
        await closeSandbox(of: task.place)
        await unpinMerge(of: task)
        await removeFolders(of: task)
    }

    /// Ends the sandbox of a run that did not use it.
    private func closeSandbox(of place: RunDirectories) async {
        guard place.isOpen else { return }
        try? await offThread { [users] in place.close(users) }
    }

    private func removeFolders(of task: RunTask) async {
        do {
            try await Workspace.remove(task.place.workspace)
            try await Workspace.remove(task.place.folder)
        } catch {
            log.warning(
                "what run \(task.id) left could not be removed; the next start tries again: \(error)",
                metadata: .code(.releaseFailed, run: task.id))
        }
    }

    /// Lets `git gc` remove the run's merge.
    private func unpinMerge(of task: RunTask) async {
        let store = task.repository.store
        do {
            try await withRepository(at: store) { try $0.letGo(of: RunPin.ref(of: task.id)) }
        } catch {
            log.warning(
                "the merge of run \(task.id) stays in \(store): \(error)", metadata: .code(.releaseFailed, run: task.id)
            )
        }
    }
}
