/// Does what follows from events. Each listener has a buffer of its own, so a slow one delays neither runs nor others.
package protocol RunListener: Sendable {
    /// For the log.
    var name: String { get }
    /// Events that wait for it at most; beyond, the oldest are dropped and counted.
    var capacity: Int { get }

    /// Asked where the event happens, so it must not block.
    func wants(_ event: DaemonEvent) -> Bool
    /// Called with one event after the other, in order.
    func receive(_ event: DaemonEvent) async
    /// Called before the next event when the buffer was full and `count` events were dropped.
    func missed(_ count: Int) async
}

extension RunListener {
    package var capacity: Int { 100 }
}
