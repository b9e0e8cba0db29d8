package import Results
import Synchronization

/// Wakes those who wait for a verdict, when there is news for them and only then.
///
/// News of a run are its steps' beginnings and ends, not their output. That a run is accepted, begins or ends is news
/// for everybody: places in the queue move.
package final class ChangeNotifier: Sendable {
    /// How much had happened when somebody looked.
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

        /// Takes out those for whom there is news.
        mutating func takeAwoken() -> [CheckedContinuation<Void, Never>] {
            let awoken = waiting.filter { $0.value.mark != mark(of: $0.value.mark.ofRuns.keys) }
            for number in awoken.keys { waiting[number] = nil }
            return awoken.values.map(\.continuation)
        }
    }

    private let state = Mutex(State())

    /// Take it before looking: what comes in between is not missed then.
    package func mark(of runs: some Sequence<RunID>) -> Mark { state.withLock { $0.mark(of: runs) } }

    /// A run has gone on.
    package func tell(_ run: RunID) {
        let awoken = state.withLock { state in
            state.ofRuns[run, default: 0] += 1
            return state.takeAwoken()
        }
        for continuation in awoken { continuation.resume() }
    }

    /// A run was accepted, began or ended, or a repository was looked at with a result.
    package func tellAll() {
        let awoken = state.withLock { state in
            state.all += 1
            // Whoever looks now sees all there is: single counts have served.
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
