package import Concurrency
import Engine
package import MachineProtocol
import Synchronization
import SystemCalls
import Workspaces

/// A connection with the agent of one run, from the daemon's side.
///
/// Its calls block, but for those that are asynchronous.
package final class MachineClient: Sendable {
    /// The machine's name, for sentences.
    package let machine: String
    /// What the machine is.
    package let greeting: AgentGreeting
    private let stream: AgentStream
    private let connection: MachineConnection
    private let counts = TrafficCount()
    /// Ends the run; nil if there is none.
    private let stop: StopSignal?
    let patience: Patience

    private init(
        machine: String, greeting: AgentGreeting, stream: AgentStream, connection: MachineConnection, stop: StopSignal?,
        patience: Patience
    ) {
        (self.machine, self.greeting, self.stream) = (machine, greeting, stream)
        (self.connection, self.stop, self.patience) = (connection, stop, patience)
    }

    /// How many bytes of packs and stored outputs were sent.
    package var sent: (packs: Int, outputs: Int) { counts.values }

    /// By which a lasting agent is found again.
    package var trace: String? { stream.trace }

    /// Starts an agent, and agrees with it on the protocol.
    ///
    /// - Parameters:
    ///   - resuming: The trace of a lasting agent that is not started but found again.
    ///   - stop: Ends the run: nobody waits long for answers then.
    ///   - lifetime: After that the agent ends everything, whatever the daemon says.
    ///   - silence: How long one side may say nothing before the other one gives it up.
    /// - Throws: ``PlaceProblem``; ``PlaceUnavailable`` if the machine refuses what the run asks for. Nothing is left
    ///   then.
    package static func connect(
        _ link: any AgentLink, machine: String, lifetime: Duration, silence: Duration = .seconds(30),
        resuming: String? = nil, stop: StopSignal? = nil, patience: Patience = Patience()
    ) async throws -> MachineClient {
        let stream: AgentStream
        do {
            stream = if let resuming { try await link.resume(resuming) } else { try await link.start() }
        } catch let error as any LinkError where error.isOfRequest {
            throw PlaceUnavailable(reason: "\(machine) can't run this: \(error)")
        } catch {
            throw PlaceProblem(reason: "\(machine) can't be used: \(error)", mayHaveActed: false)
        }
        do {
            let own = DaemonGreeting(silence: silence / .seconds(1), lifetime: lifetime / .seconds(1))
            let limit = max(silence, .seconds(10))
            let (greeting, parser): (AgentGreeting, FrameParser) = try await onOwnThread {
                try Handshake.greet(own, input: stream.output, output: stream.input, within: limit)
            }
            guard greeting.version == own.version else {
                throw PlaceProblem(
                    reason:
                        "the agent of \(machine) speaks version \(greeting.version) of the protocol, and this pipectl "
                        + "version \(own.version): install the same pipectl on both", mayHaveActed: false)
            }
            let connection = MachineConnection(input: stream.output, output: stream.input, silence: silence)
            try connection.start(parser)
            return MachineClient(
                machine: machine, greeting: greeting, stream: stream, connection: connection, stop: stop,
                patience: patience)
        } catch {
            let reason = await stream.end(keepsAgent: resuming != nil)
            if let problem = error as? PlaceProblem { throw problem }
            throw PlaceProblem(reason: "\(machine) \(reason ?? "\(error)")", mayHaveActed: false)
        }
    }

    /// Ends the connection, and with it everything that the agent started.
    ///
    /// - Parameter keepsLost: Whether a lasting agent goes on if the connection was lost.
    /// - Returns: Why the connection was lost before, as a sentence; nil if it was not.
    @discardableResult
    package func end(keepsLost: Bool = false) async -> String? {
        let lost = connection.end
        if trace != nil, lost == nil { await leave() }
        connection.close(ConnectionEnd(.ended, "was not needed any more"))
        let said = await stream.end(keepsAgent: keepsLost && lost != nil)
        return lost.map { "\(machine) \(said ?? $0.reason)" }
    }

    /// How long a lasting agent may take to end everything before the link ends it.
    private static let farewell = Duration.seconds(20)

    /// Tells a lasting agent that the run is over, and waits for the end of what it started.
    private func leave() async {
        _ = try? await within(Self.farewell, "did not end") { [self] in try ask(.leave, Done.self) }
    }

    /// Does blocking work, and gives the machine up if it takes too long.
    func within<Value: Sendable>(
        _ limit: Duration, _ reason: String, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await onOwnThread(body) }
            group.addTask { [self] in
                do { try await Task.sleep(for: limit) } catch { return nil }
                giveUp(reason)
                return nil
            }
            defer { group.cancelAll() }
            while let value = try await group.next() { if let value { return value } }
            throw CancellationError()
        }
    }

    /// Why the connection has ended; nil while it is there.
    package var isLost: Bool { connection.end != nil }

    /// Ends the connection with a machine that does not do what it must.
    func giveUp(_ reason: String) { connection.close(ConnectionEnd(.failed, reason)) }

    /// What a lost connection means for a run.
    ///
    /// - Parameter mayHaveActed: Whether a command may have been started.
    func lost(_ error: any Error, mayHaveActed: Bool) -> PlaceProblem {
        let reason = (error as? ConnectionEnd ?? connection.end).map(\.reason) ?? "\(error)"
        return PlaceProblem(reason: "\(machine) \(reason)", mayHaveActed: mayHaveActed)
    }

    /// How long a machine may do nothing about a question. Its files may be on a disk that does not answer, while the
    /// agent itself lives.
    package struct Patience: Sendable {
        package var usual = Duration.seconds(300)
        /// Once the run was asked to end.
        package var ending = Duration.seconds(60)

        package init() {}
    }

    /// - Parameter limit: How long the machine may do nothing about it; nil if nothing may happen for any time.
    func begin(_ request: MachineRequest, limit: Duration?) throws -> Exchange {
        let wait = limit.map { limit in
            { @Sendable [stop, patience] in stop?.request == nil ? limit : min(limit, patience.ending) }
        }
        do { return try connection.begin(request, patience: wait) } catch { throw lost(error, mayHaveActed: false) }
    }

    /// Makes a request, sends what belongs to it, and waits for the reply.
    ///
    /// - Parameters:
    ///   - limit: How long the machine may do nothing about it, if not as long as usual.
    ///   - data: Receives the data that comes.
    ///   - send: Sends the data of the request; the end of it is sent afterwards.
    /// - Throws: What the agent could not do, as the engine knows it; ``PlaceProblem`` if the connection is lost; what
    ///   `data` and `send` throw.
    @discardableResult
    func ask<Value: Sendable & Codable>(
        _ request: MachineRequest, _ type: Value.Type = Value.self, limit: Duration? = nil,
        data: (([UInt8]) throws -> Void)? = nil, send: ((Exchange) throws -> Void)? = nil
    ) throws -> Value {
        let exchange = try begin(request, limit: limit ?? patience.usual)
        defer { exchange.finish() }
        do {
            if let send {
                // Whoever replies before the end of the data says why.
                do {
                    try send(exchange)
                    try exchange.endData()
                } catch is Exchange.Dropped {}
            }
            while true {
                switch try exchange.next() {
                case .data(let bytes): try data?(bytes)
                case .endOfData, .note: throw unreadable
                case .reply(let bytes): return try value(type, bytes)
                }
            }
        } catch let end as ConnectionEnd {
            throw lost(end, mayHaveActed: true)
        }
    }

    /// The value of a reply.
    ///
    /// - Throws: ``MachineProblem``; ``PlaceProblem`` if the bytes are no reply.
    func value<Value: Sendable & Codable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
        guard let reply = try? Wire.value(MachineReply<Value>.self, from: bytes) else {
            throw unreadable
        }
        switch reply {
        case .value(let value): return value
        case .problem(let problem): throw problem
        }
    }

    /// The machine answered with what is no answer.
    var unreadable: PlaceProblem {
        PlaceProblem(reason: "\(machine) sent an answer that can't be read", mayHaveActed: true)
    }

    /// Sends a pack of commits as the data of a request.
    func send(pack path: String, over exchange: Exchange) throws {
        counts.add(try FileSending.send(path) { try exchange.send($0) }, isPack: true)
    }

    /// Counts what was sent for stored outputs.
    func count(outputs bytes: Int) { counts.add(bytes, isPack: false) }
}

/// What was sent over a connection.
private final class TrafficCount: Sendable {
    private let state = Mutex((packs: 0, outputs: 0))
    var values: (packs: Int, outputs: Int) { state.withLock { $0 } }
    func add(_ bytes: Int, isPack: Bool) {
        state.withLock { if isPack { $0.packs += bytes } else { $0.outputs += bytes } }
    }
}
