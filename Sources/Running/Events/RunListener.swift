/// Handles events. Each listener has a buffer of its own, so a slow one delays neither runs nor other listeners.
package protocol RunListener: Sendable {
    /// For the log.
    var name: String { get }
    /// The most events in its buffer; beyond, the oldest are dropped and counted.
    var capacity: Int { get }

    /// Called where the event happens, so it must not block.
    func wants(_ event: DaemonEvent) -> Bool
    /// Called with each event in order.
    func receive(_ event: DaemonEvent) async
    /// Called before the next event when the buffer was full and `count` events were dropped.
    func missed(_ count: Int) async
}

extension RunListener {
    package var capacity: Int { 100 }
}
