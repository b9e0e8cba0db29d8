import Concurrency
package import Control
import Engine
package import Results
package import Store

/// Adds runs to the queue and removes them, and applies the effects on other runs.
package struct RunQueue: Sendable {
    package let index: Store.Index
    package let scheduler: Scheduler
    package let board: LiveBoard
    package let unstarted: UnstartedRuns

    package init(index: Store.Index, scheduler: Scheduler, board: LiveBoard, unstarted: UnstartedRuns) {
        self.index = index
        self.scheduler = scheduler
        self.board = board
        self.unstarted = unstarted
    }

    /// Makes the scheduler check whether a run may start; returns at once.
    package func wakeUp() { scheduler.wakeUp() }

    /// Queues a run, or finds the existing one for the same request.
    ///
    /// - Throws: Also a ``DaemonError`` with `stopping`, in a process that only starts named runs and ends: nobody would
    ///   start the run. A daemon that ends starts it after its next start.
    package func accept(_ request: RunRequest) async throws -> EnqueueOutcome {
        if await scheduler.isRestricted, await scheduler.isDraining {
            throw DaemonError(.stopping, "The command that would run it is ending. Repeat the request in a moment.")
        }
        let outcome = try await index.enqueue(request)
        await carryOut(outcome.superseded, outcome.toCancel)
        return outcome
    }

    /// The same, and allows it to start in a process that starts only named runs.
    package func begin(_ request: RunRequest) async throws -> RunID {
        let id = try await accept(request).run.id
        if await scheduler.isRestricted { await scheduler.startOnly([id]) }
        scheduler.wakeUp()
        return id
    }

    /// Applies what the index decided when it accepted runs: superseded queued runs have ended, running ones are
    /// stopped, and the new ones may start.
    package func carryOut(_ superseded: [Supersession], _ toCancel: [Supersession]) async {
        scheduler.wakeUp()
        for one in toCancel { _ = try? await stop(one.run, StopRequest(.superseded, reason: one.reason)) }
        for one in superseded { board.wake(one.run) }
        if !superseded.isEmpty { await unstarted.archive() }
        // Something may have been accepted, or observed without a run: waiters for a verdict check again.
        board.news.tellAll()
    }

    /// Cancels a run, queued or running.
    package func cancel(_ id: RunID, reason: String) async throws -> CompletedAction.CancelResult {
        // The index first: a run that was put back to wait for approval may still be in the list of live runs.
        if try await index.cancelQueued(id, reason: reason) {
            board.wake(id)
            await unstarted.archive()
            return .beforeStart
        }
        // It gets its verdict before its folders are removed, and is live until then.
        guard try await isUndecided(id) else { return .hadEnded }
        return try await stop(id, StopRequest(.cancelled, reason: reason)) ? .stopping : .hadEnded
    }

    /// Stops a run that is live, or that is about to be; false if it has ended.
    private func stop(_ id: RunID, _ request: StopRequest) async throws -> Bool {
        if scheduler.stop(id, request) { return true }
        if try await isUndecided(id) { return true }
        scheduler.takeEarlyStop(of: id)
        return false
    }

    private func isUndecided(_ id: RunID) async throws -> Bool {
        guard let run = try await index.run(id) else { return false }
        return run.summary.verdict == nil
    }

    /// Starts a run and waits until its report is archived; cancels it if the caller is cancelled.
    package func runToEnd(_ request: RunRequest, cancelReason: String) async throws -> RunID {
        let id = try await begin(request)
        do {
            while true {
                try Task.checkCancellation()
                let seen = board.changes
                if let summary = try await index.run(id)?.summary, summary.state == .ended, summary.isArchived {
                    return id
                }
                await board.waitForChange(of: id, since: seen, atMost: .seconds(1))
            }
        } catch {
            _ = try? await cancel(id, reason: cancelReason)
            throw error
        }
    }
}

extension LiveBoard {
    /// Waits until the run changes, but not for long: changes of the index by others are not noticed here.
    package func waitForChange(of run: RunID, since seen: Int, atMost limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForChange(of: run, since: seen) }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
