import Synchronization

/// Whether a run may wait that makes a snapshot which runs of changes miss: the queue is asked for such runs first.
final class MissedSnapshots: Sendable {
    private let state = Mutex(true)

    var mayWait: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
