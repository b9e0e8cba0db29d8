package import Control
package import Results
package import Engine
import Foundation
package import StepLogs
import Synchronization

/// The newest state of every live run, for any number of readers at their own pace.
///
/// Readers get states, not events: a slow one skips states, loses no result, and delays nobody. It uses a lock and not
/// an actor, since every event of every step arrives here.
package final class LiveBoard: Sendable {
    private struct State {
        var runs: [RunID: LiveRun] = [:]
        var left: [RunID: StepEvidence] = [:]
        /// For each run, the index of each step by name.
        var places: [RunID: [String: Int]] = [:]
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var waitedRuns: [Int: RunID] = [:]
        /// Waiters for the end of a run only.
        var waitedEnds: [Int: RunID] = [:]
        var nextWaiter = 0
        var changes = 0

        /// The index of a step of a run.
        mutating func place(of step: String, in id: RunID) -> Int? {
            guard let steps = runs[id]?.steps else { return nil }
            // A run gets all its steps at once.
            if places[id]?.count != steps.count {
                places[id] = Dictionary(
                    steps.enumerated().map { ($1.record.name, $0) }, uniquingKeysWith: { first, _ in first })
            }
            return places[id]?[step].flatMap { $0 < steps.count && steps[$0].record.name == step ? $0 : nil }
        }

        mutating func takeFollowers(of id: RunID) -> [CheckedContinuation<Void, Never>] {
            if waitedRuns.isEmpty { return [] }
            return take(waitedRuns.filter { $0.value == id }.map(\.key))
        }

        /// Removes waiters, for a caller that resumes them without the lock.
        mutating func take(_ numbers: [Int]) -> [CheckedContinuation<Void, Never>] {
            numbers.compactMap { number in
                waitedRuns[number] = nil
                waitedEnds[number] = nil
                return waiters.removeValue(forKey: number)
            }
        }
    }

    private let state = Mutex(State())
    package let news = ChangeNotifier()
    package let outputs = LiveOutputs()

    package init() {}

    /// Counts all changes of all runs, so that one between a look and a wait is not missed.
    package var changes: Int { state.withLock { $0.changes } }

    /// The number of live runs of a repository, without those that wait for approval.
    package func count(of repository: String) -> Int {
        state.withLock { state in state.runs.values.count { $0.repository == repository && !$0.isParked } }
    }

    package func begin(_ run: LiveRun) {
        state.withLock { state in
            var run = run
            // A follower may have seen an earlier attempt, so revisions of a run only grow.
            run.revision = (state.runs[run.id]?.revision ?? 0) + 1
            state.runs[run.id] = run
            state.left[run.id] = nil
            state.places[run.id] = nil
        }
        wake(run.id)
    }

    func update(_ id: RunID, _ change: (inout LiveRun) -> Void) {
        self.change(id, change)
        news.tell(id)
    }

    private func change(_ id: RunID, _ change: (inout LiveRun) -> Void) {
        resume(
            state.withLock { state in
                // Changed in place: a copy of all steps for each event would make long runs slow.
                guard state.runs[id]?.change(change) != nil else { return [] }
                state.changes += 1
                return state.takeFollowers(of: id)
            })
    }

    package func take(_ event: RunEvent, of id: RunID) {
        if case .stepLeft(let step, let tests, let findings) = event {
            return state.withLock { state in
                state.left[id, default: StepEvidence()].tests[step] = tests
                state.left[id]?.findings += findings
            }
        }
        resume(
            state.withLock { state in
                let place = state.place(of: event.step, in: id)
                guard state.runs[id]?.change({ $0.take(event, at: place) }) != nil else { return [] }
                state.changes += 1
                return state.takeFollowers(of: id)
            })
        // A line of output changes only what a terminal shows; nobody waits for that.
        if case .stepOutput = event { return }
        news.tell(id)
    }

    /// The results of the steps that have ended so far.
    package func evidence(of id: RunID) -> StepEvidence { state.withLock { $0.left[id] ?? StepEvidence() } }

    package func end(_ id: RunID) {
        let ended = state.withLock { state in
            state.runs[id] = nil
            state.left[id] = nil
            state.places[id] = nil
            return state.take(state.waitedEnds.filter { $0.value == id }.map(\.key))
        }
        wake(id)
        resume(ended)
    }

    package func run(_ id: RunID) -> LiveRun? { state.withLock { $0.runs[id] } }

    /// The run as in the index, with the question of a step that waits for approval, which only the board knows.
    package func withQuestion(_ run: RunSummary) -> RunSummary {
        guard run.state == .running, let question = self.run(run.id)?.question else { return run }
        var run = run
        run.heldFor = question
        return run
    }

    package func isParked(_ id: RunID) -> Bool { state.withLock { $0.runs[id]?.isParked ?? false } }
    package var isEmpty: Bool { state.withLock { $0.runs.isEmpty } }
    package var all: [LiveRun] { state.withLock { Array($0.runs.values) }.sorted { $0.id < $1.id } }

    /// Waits until the run's revision differs from `revision` (0: until it is live); nil if it is not, or no longer,
    /// live.
    package func next(_ id: RunID, after revision: Int) async -> LiveRun? {
        while !Task.isCancelled {
            let (run, seen) = state.withLock { ($0.runs[id], $0.changes) }
            guard let run, run.revision == revision else { return run }
            await waitForChange(of: id, since: seen)
        }
        return run(id)
    }

    /// Waits until the run changes: it started, made progress or ended.
    ///
    /// - Parameter seen: The value of ``changes`` at the caller's last look; returns at once if it differs by now.
    package func waitForChange(of id: RunID, since seen: Int) async {
        await wait { state, waiter in
            guard state.changes == seen else { return false }
            state.waitedRuns[waiter] = id
            return true
        }
    }

    /// Waits until the run is no longer live; returns at once if it is not.
    package func waitForEnd(of id: RunID) async {
        await wait { state, waiter in
            guard state.runs[id] != nil else { return false }
            state.waitedEnds[waiter] = id
            return true
        }
    }

    /// - Parameter begin: Registers the waiter; false if the awaited state exists already.
    private func wait(_ begin: @Sendable (_ state: inout State, _ waiter: Int) -> Bool) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    // Checked under the lock: a later cancellation finds the waiter.
                    guard !Task.isCancelled, begin(&state, number) else { return false }
                    state.waiters[number] = continuation
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            resume(state.withLock { $0.take([number]) })
        }
    }

    /// Wakes waiters of a run whose state changed elsewhere: queued, superseded, cancelled.
    package func wake(_ id: RunID) {
        resume(
            state.withLock { state in
                state.changes += 1
                return state.takeFollowers(of: id)
            })
        news.tellAll()
    }

    private func resume(_ waiters: [CheckedContinuation<Void, Never>]) { for waiter in waiters { waiter.resume() } }
}

/// Test results and findings of a live run, for readers before its report is written.
package struct StepEvidence: Sendable {
    /// By step.
    package var tests: [String: [TestResult]] = [:]
    package var findings: [Finding] = []
}
