import Synchronization

/// How many connections are open.
final class OpenCount: Sendable {
    private let count = Mutex(0)

    func enter(atMost most: Int) -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func leave() { count.withLock { $0 -= 1 } }
}
