import DaemonLog
package import Archive
package import Logging
import Results
import Sandbox
package import Store

/// Writes ended runs from the index into `archive.git`, and packs the archive. Nobody waits for it: readers find a run
/// in either place.
package actor ArchiveService {
    private let store: ArchiveStore
    private let index: Store.Index
    private let log: Logger
    /// How long it waits for more runs to end, so that they are written and flushed together.
    private let rest: Duration
    /// Runs that can't be archived, and were reported.
    private var refused: Set<RunID> = []
    /// Whether the whole last export failed.
    private var isBehind = false

    package init(store: ArchiveStore, index: Store.Index, log: Logger, rest: Duration = .seconds(1)) {
        self.store = store
        self.index = index
        self.log = log
        self.rest = rest
    }

    /// Exports the runs that an earlier process left, and then runs as they end, until the task is cancelled. Failures
    /// are retried.
    package func run() async {
        for await _ in store.news {
            repeat {
                guard (try? await Task.sleep(for: rest)) != nil else { return }
            } while await !export()
        }
    }

    /// Exports all waiting runs.
    ///
    /// - Returns: False if the archive could not be written; the runs are still in the index then.
    @discardableResult
    package func export() async -> Bool {
        do {
            let outcome = try await store.export(from: index)
            for problem in outcome.problems where refused.insert(problem.run).inserted {
                log.error(
                    "run \(problem.run) can't be archived, its report stays in the index: \(problem.description)",
                    metadata: .code(.archiveBehind, run: problem.run))
            }
            if isBehind { log.notice("archive.git can be written again", metadata: .code(.archiveCaughtUp)) }
            isBehind = false
            return true
        } catch is CancellationError {
            return true
        } catch {
            // Reported once, since it is retried every second.
            if !isBehind {
                log.error(
                    "archive.git can't be written; ended runs stay in the index, retrying: \(error)",
                    metadata: .code(.archiveBehind))
            }
            isBehind = true
            return false
        }
    }

    /// Packs the archive when it has many small objects. libgit2 can't do this, so `git gc` does.
    package func pack() async {
        do {
            let maintenance = try store.maintenance()
            guard maintenance.isNeeded else { return }
            let result = try await ExternalCommand(
                "git", Array(maintenance.command.dropFirst()), deadline: .seconds(1_800)
            ).run()
            if !result.succeeded {
                log.warning("the archive could not be packed: \(result.text)", metadata: .code(.archiveNotPacked))
            }
        } catch {
            log.warning("the archive could not be packed: \(error)", metadata: .code(.archiveNotPacked))
        }
    }
}
