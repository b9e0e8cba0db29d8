import Synchronization

/// Whether a run may wait that makes a snapshot which runs of changes miss: the queue is asked for such runs first.
package final class MissedSnapshots: Sendable {
    private let state = Mutex(true)

    package init() {}

    package var mayWait: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
