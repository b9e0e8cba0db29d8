import SystemCalls
internal import Synchronization

/// The open connections of a daemon, whose number is limited.
///
/// If there are too many, the connection that has been idle for longest is closed for a new one. Requests that may wait
/// for hours, as for a verdict, can take only a part of the connections, so that the daemon can always be asked for its
/// status.
final class Connections: Sendable {
    private struct Place {
        var socket: StreamSocket
        var isAnswered = false
        var isWaiting = false
    }

    private struct State {
        /// By the order in which they were opened or became idle.
        var places: [Int: Place] = [:]
        var next = 0
        var waiting = 0
    }

    private let limits: DaemonLimits
    private let state = Mutex(State())

    init(_ limits: DaemonLimits) { self.limits = limits }

    /// One connection. Its number changes when it becomes idle.
    final class Guest: Sendable {
        fileprivate let number: Mutex<Int>
        fileprivate init(_ number: Int) { self.number = Mutex(number) }
    }

    /// Adds a connection, and closes the one that has been idle for longest if necessary; nil if all are being
    /// answered.
    func enter(_ socket: StreamSocket) -> Guest? {
        let (guest, evicted) = state.withLock { state -> (Guest?, StreamSocket?) in
            var evicted: StreamSocket?
            if state.places.count >= limits.connections {
                let silent = state.places.filter { !$0.value.isAnswered }.keys.min()
                guard let silent else { return (nil, nil) }
                evicted = state.places.removeValue(forKey: silent)?.socket
            }
            let number = state.next
            state.next += 1
            state.places[number] = Place(socket: socket)
            return (Guest(number), evicted)
        }
        if let evicted {
            let text =
                "This connection was idle while others waited, so it was closed. Connect again."
            evicted.writeNow(Envelope.line(DaemonError(.busy, text)))
            evicted.close()
        }
        return guest
    }

    /// A request of the connection is being answered.
    ///
    /// - Parameter waits: Whether the answer may take as long as a run does.
    /// - Throws: ``DaemonError`` `busy` if the connection was closed for another one, or too many requests wait
    ///   already.
    func begin(_ guest: Guest, waits: Bool) throws(DaemonError) {
        let number = guest.number.withLock { $0 }
        let refusal = state.withLock { state -> String? in
            guard state.places[number] != nil else { return "The connection was closed for another one. Try again." }
            if waits, state.waiting >= limits.waiting {
                return "\(state.waiting) requests are already waiting, the limit. Try again shortly."
            }
            if waits { state.waiting += 1 }
            state.places[number]?.isAnswered = true
            state.places[number]?.isWaiting = waits
            return nil
        }
        if let refusal { throw DaemonError(.busy, refusal) }
    }

    /// The answer has ended: the connection is idle from now on.
    func end(_ guest: Guest) {
        state.withLock { state in
            let number = guest.number.withLock { $0 }
            guard var place = state.places.removeValue(forKey: number) else { return }
            if place.isWaiting { state.waiting -= 1 }
            (place.isAnswered, place.isWaiting) = (false, false)
            state.places[state.next] = place
            guest.number.withLock { $0 = state.next }
            state.next += 1
        }
    }

    /// The connection is closed.
    func leave(_ guest: Guest) {
        state.withLock { state in
            let place = state.places.removeValue(forKey: guest.number.withLock { $0 })
            if place?.isWaiting == true { state.waiting -= 1 }
        }
    }
}
