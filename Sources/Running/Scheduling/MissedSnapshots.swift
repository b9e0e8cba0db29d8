import Synchronization

/// Whether queued runs make a snapshot that runs of changes miss; the scheduler prefers such runs.
package final class MissedSnapshots: Sendable {
    private let state = Mutex(true)

    package init() {}

    package var mayWait: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
