import Archive
import Engine
import Foundation

/// The newest state of every run that goes on; any number of readers, each at its own pace.
///
/// Readers get states, not events: a slow one skips what was overtaken, loses no result, and slows nobody.
actor LiveBoard {
    private var runs: [RunID: LiveRun] = [:]
    private var left: [RunID: StepEvidence] = [:]
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var waitedRuns: [Int: RunID] = [:]
    private var nextWaiter = 0
    private var settling: Set<RunID> = []
    let news = NewsDesk()
    /// Counts all changes of all runs, so that one between a question and a wait is not missed.
    private(set) var changes = 0

    func begin(_ run: LiveRun) {
        var run = run
        // A follower may have seen an earlier attempt: revisions of a run only grow.
        run.revision = (runs[run.id]?.revision ?? 0) + 1
        runs[run.id] = run
        left[run.id] = nil
        wake(run.id)
    }

    func update(_ id: RunID, _ change: (inout LiveRun) -> Void) {
        self.change(id, change)
        news.tell(id)
    }

    private func change(_ id: RunID, _ change: (inout LiveRun) -> Void) {
        // In its place: a copy of all steps for each event would make long runs slow.
        guard runs[id]?.change(change) != nil else { return }
        changes += 1
        wakeFollowers(of: id)
    }

    func take(_ event: RunEvent, of id: RunID) {
        switch event {
        case .stepLeft(let step, let tests, let findings):
            left[id, default: StepEvidence()].tests[step] = tests
            left[id]?.findings += findings
        // A line of output changes what a terminal shows, and nothing that anybody waits for.
        case .stepOutput: change(id) { $0.take(event) }
        default: update(id) { $0.take(event) }
        }
    }

    /// What the steps that have ended so far have left.
    func evidence(of id: RunID) -> StepEvidence { left[id] ?? StepEvidence() }

    func end(_ id: RunID) {
        runs[id] = nil
        left[id] = nil
        wake(id)
    }

    /// The run's steps have ended; what is left is to write it down and to clear it away.
    func settle(_ id: RunID) { settling.insert(id) }

    /// Nothing of the run is left.
    func forget(_ id: RunID) { settling.remove(id) }

    func run(_ id: RunID) -> LiveRun? { runs[id] }

    func isParked(_ id: RunID) -> Bool { runs[id]?.isParked ?? false }
    /// How many runs wait for nothing but a person.
    var parked: Int { runs.values.count { $0.isParked } }
    /// How many have no step left to run.
    var settled: Int { settling.count }
    var all: [LiveRun] { runs.values.sorted { $0.id < $1.id } }

    /// Waits until the run differs from `revision` (0: is there at all); returns nil when it is not (or no longer) live.
    func next(_ id: RunID, after revision: Int) async -> LiveRun? {
        while let run = runs[id], run.revision == revision, !Task.isCancelled {
            await waitForChange(of: id, since: changes)
        }
        return runs[id]
    }

    /// Waits until something about the run changes: it began, went on or ended.
    ///
    /// - Parameter seen: What ``changes`` was when the caller last looked; returns at once if it is another by now.
    func waitForChange(of id: RunID, since seen: Int) async {
        guard changes == seen else { return }
        nextWaiter += 1
        let number = nextWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume()
                } else {
                    waiters[number] = continuation
                    waitedRuns[number] = id
                }
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    /// Wakes those who wait for a run that is decided about elsewhere: queued, superseded, cancelled.
    func wake(_ id: RunID) {
        changes += 1
        wakeFollowers(of: id)
        news.tellAll()
    }

    private func wakeFollowers(of id: RunID) {
        for (number, run) in waitedRuns where run == id { giveUp(number) }
    }

    private func giveUp(_ number: Int) {
        waitedRuns[number] = nil
        waiters.removeValue(forKey: number)?.resume()
    }
}

/// Test results and findings of a run that goes on, for who asks before its report is written.
struct StepEvidence: Sendable {
    /// By step.
    var tests: [String: [TestResult]] = [:]
    var findings: [Finding] = []
}
