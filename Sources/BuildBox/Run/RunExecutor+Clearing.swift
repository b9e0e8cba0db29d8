import Store
import Foundation
import Git
import Logging

/// What a run leaves when it has ended, and how it goes.
extension RunExecutor {
    /// Ends the sandbox of a run that came to its verdict without one.
    func release(_ place: RunPlace) async {
        guard place.isOpen else { return }
        let users = sandboxing.users
        try? await offThread { place.close(users) }
    }

    /// The same as ``cleanUp(_:_:)``, in the background if that can be.
    func cleanUpLater(_ run: QueuedRun, _ place: RunPlace) async {
        let isLeft = await leftovers?.take { await cleanUp(run, place) } ?? false
        if !isLeft { await cleanUp(run, place) }
    }

    /// Removes the run's folders.
    func cleanUp(_ run: QueuedRun, _ place: RunPlace) async {
        do {
            try await Workspace.remove(place.workspace)
            try await Workspace.remove(place.folder)
        } catch {
            log.warning("the files of run \(run.id) could not be removed; the next start tries again: \(error)")
        }
    }

    /// Lets `git gc` have the run's merge.
    func letGo(_ run: QueuedRun, _ repository: WatchedRepository) async {
        do {
            try await withRepository(at: repository.store) { try $0.letGo(of: RunPreparation.pin(run.id)) }
        } catch {
            log.warning("the merge of run \(run.id) stays in \(repository.store): \(error)")
        }
    }
}
