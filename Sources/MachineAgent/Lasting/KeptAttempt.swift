import Concurrency
import MachineProtocol
import Synchronization

/// An attempt that a lasting agent has begun, with what a later connection asks for.
final class KeptAttempt: Sendable {
    /// Its secrets are in it, in memory only.
    private let order: AttemptOrder
    let spool: OutputSpool
    let stop = StopSignal()
    private let result = Mutex<MachineReply<AttemptReport>?>(nil)

    init(_ order: AttemptOrder, spool: OutputSpool) { (self.order, self.spool) = (order, spool) }

    func end(_ reply: MachineReply<AttemptReport>) {
        result.withLock { $0 = reply }
        spool.end()
    }

    /// Sends the whole output and then the result. It blocks until the end of the attempt or of the connection.
    func follow(_ exchange: Exchange, by other: AttemptOrder) {
        // What masks the output on the other side must be what the step was given.
        guard order.hasSecrets(of: other) else { return refuse(exchange, "its secrets have changed since it began") }
        exchange.onNote { [stop] bytes in
            guard let order = try? Wire.value(StopOrder.self, from: bytes) else { return }
            stop.stop(order.request)
        }
        var offset = 0
        while !exchange.isOver {
            switch spool.next(from: offset) {
            case .bytes(let bytes):
                do { try exchange.send(bytes) } catch { return }
                offset += bytes.count
            case .nothing: continue
            case .gone: return refuse(exchange, "its output is not there from the beginning any more")
            case .end:
                guard let reply = result.withLock({ $0 }) else { return refuse(exchange, "it was given up") }
                try? exchange.reply(reply)
                return
            }
        }
    }

    private func refuse(_ exchange: Exchange, _ reason: String) {
        let problem = MachineProblem.gone("a step that ran on can't be followed: \(reason)")
        try? exchange.reply(MachineReply<AttemptReport>.problem(problem))
    }
}
