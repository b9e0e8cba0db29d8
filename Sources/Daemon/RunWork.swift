import Running
import StateFiles
import Control
import Logging
import Results
import Store

/// Runs what is queued, and has done what follows from each run.
struct RunWork: Sendable {
    let scheduler: Scheduler
    let execution: RunExecution
    let background: BackgroundWork
    let fixes: FixCoordinator
    let redTests: RedTestQueue
    let writesNotes: Bool
    let log: Logger

    /// Starts runs as they come until the scheduler drains; with `untilIdle`, until nothing waits or runs.
    ///
    /// - Returns: The reports of the runs that ended meanwhile.
    @discardableResult
    func work(untilIdle: Bool = false) async throws -> [Report] {
        // What a crash left between a run's end and what follows from it.
        await fixes.settle()
        let reports = try await scheduler.events.deliver(to: listeners()) {
            try await scheduler.work(untilIdle: untilIdle, execution, background.missed)
        }
        await execution.pipelines.workspaces.reaper?.close()
        return reports
    }

    /// Those who do what follows from the end of a run.
    private func listeners() -> [any RunListener] {
        let index = execution.pipelines.state.index
        var listeners: [any RunListener] = [
            ChangeStateListener(index: index, log: log),
            CauseListener(index: index, log: log) { [redTests] in redTests.add($0) },
            background,
            FixListener { [fixes] in await fixes.settle() },
        ]
        if writesNotes { listeners.append(NoteListener(log: log)) }
        if background.settings.runsTargets {
            listeners.append(FlakeProbe { [background] in await background.enqueue($0) })
        }
        return listeners
    }

    /// Starts no further runs; ``work(untilIdle:)`` returns when those that run have ended.
    ///
    /// Steps that wait for approval are sent away, because nobody knows when that would end.
    func drain() async {
        await scheduler.drain()
        execution.pipelines.waiters.close()
    }
}
