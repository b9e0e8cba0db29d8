package import Archive
package import Logging
import Results
import Sandbox
package import Store

/// Brings ended runs from the index into `archive.git`, and keeps that in order. Nobody waits for it: readers find a run in
/// either.
package actor ArchiveService {
    private let store: ArchiveStore
    private let index: Store.Index
    private let log: Logger
    /// How long it waits for more runs to end, which are then written and flushed together.
    private let rest: Duration
    /// Runs that can't be archived, and of which that was said.
    private var refused: Set<RunID> = []
    /// Whether the last export failed as a whole.
    private var isBehind = false

    package init(store: ArchiveStore, index: Store.Index, log: Logger, rest: Duration = .seconds(1)) {
        self.store = store
        self.index = index
        self.log = log
        self.rest = rest
    }

    /// Exports what an earlier process has left, and then runs as they end, until the task is cancelled. What fails is
    /// tried again.
    package func run() async {
        for await _ in store.news {
            repeat {
                guard (try? await Task.sleep(for: rest)) != nil else { return }
            } while await !export()
        }
    }

    /// Exports all runs that wait.
    ///
    /// - Returns: False where the archive could not be written; the runs are still in the index then.
    @discardableResult
    package func export() async -> Bool {
        do {
            let outcome = try await store.export(from: index)
            for problem in outcome.problems where refused.insert(problem.run).inserted {
                log.error("run \(problem.run) can't be archived, its report stays in the index: \(problem.description)")
            }
            if isBehind { log.notice("archive.git can be written again") }
            isBehind = false
            return true
        } catch is CancellationError {
            return true
        } catch {
            // Said once: it is tried again every second.
            if !isBehind { log.error("archive.git can't be written; ended runs stay in the index, retrying: \(error)") }
            isBehind = true
            return false
        }
    }

    /// Packs the archive when many small objects have come together; libgit2 can't, so `git gc` does.
    package func pack() async {
        do {
            let maintenance = try store.maintenance()
            guard maintenance.isNeeded else { return }
            let result = try await ExternalCommand(
                "git", Array(maintenance.command.dropFirst()), deadline: .seconds(1_800)
            ).run()
            if !result.succeeded { log.warning("the archive could not be packed: \(result.text)") }
        } catch {
            log.warning("the archive could not be packed: \(error)")
        }
    }
}
