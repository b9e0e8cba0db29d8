import Running
import StateFiles
import Control
import Logging
import Placing
import Results
import Store
import TaskService

/// Runs what is queued, and lets listeners do what follows from each run.
struct RunWork: Sendable {
    let scheduler: Scheduler
    let execution: RunExecution
    let background: BackgroundWork
    let fixes: FixCoordinator
    let tasks: TaskCoordinator
    /// Makes tasks of what fails.
    let failures: FailureIntake
    let redTests: RedTestQueue
    let writesNotes: Bool
    /// The file of the run log; nil for none.
    let runLog: String?
    let log: Logger

    /// Starts queued runs until the scheduler drains; with `untilIdle`, until none waits or runs.
    ///
    /// - Returns: The reports of the runs that ended.
    @discardableResult
    func work(untilIdle: Bool = false) async throws -> [Report] {
        // Work that a crash left between a run's end and its consequences.
        await fixes.settle()
        await tasks.settle()
        let reports = try await scheduler.events.deliver(to: listeners()) {
            try await scheduler.work(untilIdle: untilIdle, execution, background.missed)
        }
        await execution.pipelines.workspaces.reaper?.close()
        return reports
    }

    /// The listeners of runs' events.
    private func listeners() -> [any RunListener] {
        let index = execution.pipelines.state.index
        var listeners: [any RunListener] = [
            ChangeStateListener(index: index, log: log),
            CauseListener(index: index, log: log) { [redTests] in redTests.add($0) },
            background,
            FixListener { [fixes] in await fixes.settle() },
            failures,
            TaskListener { [tasks] in await tasks.settle() },
            LeftRunListener(state: execution.pipelines.state.folder) { [execution] in
                await execution.pipelines.machines.end($0)
            },
        ]
        if writesNotes { listeners.append(NoteListener(log: log)) }
        if let runLog { listeners.append(RunLogListener(path: runLog, log: log)) }
        if background.settings.runsTargets {
            listeners.append(FlakeProbe { [background] in await background.enqueue($0) })
        }
        return listeners
    }

    /// Starts no further runs; ``work(untilIdle:)`` returns when the live ones have ended.
    ///
    /// Steps stop waiting for approval, since nobody knows when that would end.
    func drain() async {
        await scheduler.drain()
        execution.pipelines.waiters.close()
        execution.pipelines.placement.close()
    }
}
