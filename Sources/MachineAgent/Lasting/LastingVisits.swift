import Concurrency
import MachineProtocol
import Synchronization
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The connections of a lasting agent: one at a time, and the newest wins.
final class LastingVisits: Sendable {
    private struct State {
        var socket: StreamSocket?
        var connection: MachineConnection?
        /// Since when nobody has been connected.
        var aloneSince = ContinuousClock.now
        /// When everything ends, whatever the daemon says.
        var end: ContinuousClock.Instant?
    }

    private let greeting: AgentGreeting
    private let patience: Duration
    private let isWhole: @Sendable () -> Bool
    private let request: @Sendable (Exchange, [UInt8]) -> Void
    private let state = Mutex(State())
    /// Who started this process. If it is gone, nobody holds the machine for the run any more.
    private let parent = getppid()

    /// - Parameters:
    ///   - isWhole: Whether a later connection could take the run over.
    ///   - request: Called with each request.
    init(
        greeting: AgentGreeting, patience: Duration, isWhole: @escaping @Sendable () -> Bool,
        request: @escaping @Sendable (Exchange, [UInt8]) -> Void
    ) {
        (self.greeting, self.patience, self.isWhole, self.request) = (greeting, patience, isWhole, request)
    }

    /// Takes connections until the task is cancelled.
    func take(from room: AgentRoom) async {
        while !Task.isCancelled {
            do {
                guard let socket = try await room.accept() else { return }
                await take(socket)
            } catch {
                // There may be too many open files for a moment.
                do { try await Task.sleep(for: .milliseconds(100)) } catch { return }
            }
        }
    }

    private func take(_ socket: StreamSocket) async {
        let stream = socket.descriptor
        let met: (greeting: DaemonGreeting, parser: FrameParser)? = try? await onOwnThread { [greeting] in
            try Handshake.greet(greeting, input: stream, output: stream, within: .seconds(10))
        }
        // The daemon says what to do about it: it knows both versions.
        guard let met, met.greeting.version == MachineProtocolVersion.current else { return socket.close() }
        let connection = MachineConnection(
            input: stream, output: stream, silence: .seconds(min(max(met.greeting.silence, 1), 3_600)),
            onRequest: request, onEnd: { [weak self, weak socket] _ in self?.lose(socket) })
        let older = state.withLock { state in
            defer { (state.socket, state.connection) = (socket, connection) }
            state.end = state.end ?? .now + .seconds(min(max(met.greeting.lifetime, 1), 30 * 86_400))
            return state.connection
        }
        older?.close(ConnectionEnd(.ended, "gave way to a newer connection"))
        // A connection without a thread has closed itself.
        try? connection.start(met.parser)
    }

    private func lose(_ socket: StreamSocket?) {
        state.withLock { state in
            guard state.socket === socket else { return }
            (state.socket, state.connection, state.aloneSince) = (nil, nil, .now)
        }
    }

    /// Waits until the run is over: the daemon has said so, its time has come, or nobody will ask for it any more.
    func wait(until over: StopSignal) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await over.wait() }
            group.addTask { [self] in
                while !isOver { do { try await Task.sleep(for: .milliseconds(250)) } catch { return } }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private var isOver: Bool {
        let (isAlone, since, end) = state.withLock { ($0.connection == nil, $0.aloneSince, $0.end) }
        let now = ContinuousClock.now
        if let end, now >= end { return true }
        if getppid() != parent { return true }
        return isAlone && (now - since >= patience || !isWhole())
    }
}
