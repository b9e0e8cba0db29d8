package import Results
import Synchronization

/// Wakes tasks that wait for a verdict, only when there is news for them.
///
/// The start and end of a step is news about its run; output is not. The acceptance, start or end of a run is news for
/// all, since positions in the queue change.
package final class ChangeNotifier: Sendable {
    /// The amount of news at the time of a look.
    package struct Mark: Sendable, Equatable {
        fileprivate var all: Int
        fileprivate var ofRuns: [RunID: Int]
    }

    private struct State {
        var all = 0
        var ofRuns: [RunID: Int] = [:]
        var waiting: [Int: (mark: Mark, continuation: CheckedContinuation<Void, Never>)] = [:]
        var next = 0

        func mark(of runs: some Sequence<RunID>) -> Mark {
            Mark(
                all: all,
                ofRuns: Dictionary(runs.map { ($0, ofRuns[$0] ?? 0) }, uniquingKeysWith: { first, _ in first }))
        }

        /// Removes the waiters for whom there is news.
        mutating func takeAwoken() -> [CheckedContinuation<Void, Never>] {
            let awoken = waiting.filter { $0.value.mark != mark(of: $0.value.mark.ofRuns.keys) }
            for number in awoken.keys { waiting[number] = nil }
            return awoken.values.map(\.continuation)
        }
    }

    private let state = Mutex(State())

    /// Take the mark before you look: news in between is then not missed.
    package func mark(of runs: some Sequence<RunID>) -> Mark { state.withLock { $0.mark(of: runs) } }

    /// A run has made progress.
    package func tell(_ run: RunID) {
        let awoken = state.withLock { state in
            state.ofRuns[run, default: 0] += 1
            return state.takeAwoken()
        }
        for continuation in awoken { continuation.resume() }
    }

    /// A run was accepted, started or ended, or an observation of a repository was recorded.
    package func tellAll() {
        let awoken = state.withLock { state in
            state.all += 1
            // A task that looks now sees everything, so counts of single runs are no longer needed.
            state.ofRuns = [:]
            let awoken = state.waiting.values.map(\.continuation)
            state.waiting = [:]
            return awoken
        }
        for continuation in awoken { continuation.resume() }
    }

    /// Waits until there is news since the mark was taken, or the task is cancelled.
    package func wait(since mark: Mark) async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isAwake = state.withLock { state in
                    if Task.isCancelled || state.mark(of: mark.ofRuns.keys) != mark { return true }
                    state.waiting[number] = (mark, continuation)
                    return false
                }
                if isAwake { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation.resume()
        }
    }
}
