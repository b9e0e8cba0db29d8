import SystemCalls
internal import Foundation
internal import Synchronization

/// A connection of a command to the daemon.
public final class DaemonClient<Request: Codable & Sendable, Response: Codable & Sendable>: Sendable {
    private let path: String
    /// A connection whose last answer has ended, for the next request.
    private let idle: Mutex<StreamSocket?>

    private init(path: String, first: StreamSocket) {
        self.path = path
        idle = Mutex(first)
    }

    /// Connects to the daemon at `path`.
    ///
    /// Throws `notRunning` if there is no socket or nobody answers, `notResponding` if it takes no connection within
    /// five seconds, `otherUser` if it isn't ours.
    public static func connect(path: String) async throws(DaemonError) -> DaemonClient {
        DaemonClient(path: path, first: try await open(path))
    }

    /// Sends `request` and returns the replies as they come; the stream throws ``DaemonError``.
    ///
    /// Leaving the stream before its end makes the daemon cancel the request. Requests sent at the same time get a
    /// connection each. A request is never sent twice.
    public func send(_ request: Request) async throws -> AsyncThrowingStream<Response, any Error> {
        let line = try Envelope.line(Envelope.Question(request: request))
        var socket = idle.withLock { $0.take() }
        // A daemon that has stopped since then closed it; another one may have started.
        if socket?.hasHungUp == true { socket = nil }
        let exchange = Exchange<Response>(try await socketOrNew(socket)) { [weak self] socket in
            self?.idle.withLock { $0 = socket }
        }
        try await exchange.ask(line)
        return AsyncThrowingStream { try await exchange.next() }
    }

    /// Sends `request` and returns its first reply, `nil` if the answer has none.
    public func ask(_ request: Request) async throws -> Response? {
        var first: Response?
        for try await reply in try await send(request) where first == nil { first = reply }
        return first
    }

    private func socketOrNew(_ socket: StreamSocket?) async throws(DaemonError) -> StreamSocket {
        if let socket { return socket }
        return try await Self.open(path)
    }

    private static func open(_ path: String) async throws(DaemonError) -> StreamSocket {
        let deadline = ContinuousClock.now + .seconds(5)
        while true {
            let socket: StreamSocket
            do { socket = try StreamSocket.make() } catch { throw DaemonError(.socket, "\(error). Try again shortly.") }
            let number = socket.connect(to: path)
            switch number {
            case 0:
                if let user = socket.peerUser, user == geteuid() || geteuid() == 0 { return socket }
                throw DaemonError(
                    .otherUser, "The daemon at \"\(path)\" runs as another user than this command (\(geteuid())).")
            case ENOENT, ENOTDIR, ECONNREFUSED:
                throw DaemonError(
                    .notRunning, "No pipectl daemon runs at \"\(path)\". Start it in another terminal: pipectl watch")
            case EAGAIN, EINTR:
                guard ContinuousClock.now < deadline, !Task.isCancelled else {
                    throw DaemonError(
                        .notResponding,
                        "The daemon at \"\(path)\" accepts no connections: it is stopped or overloaded. Check its log.")
                }
                // Its queue is full; Unix sockets have no event for that.
                try? await Task.sleep(for: .milliseconds(20))
            default:
                throw DaemonError(
                    .socket, "\"\(path)\" cannot be connected to: \(SystemFailure("connect", number)). Check its owner."
                )
            }
        }
    }
}

/// One request and its answer.
private final class Exchange<Response: Codable & Sendable>: Sendable {
    private let socket: StreamSocket
    private let reader: LineReader
    private let hasEnded = Mutex(false)
    private let giveBack: @Sendable (StreamSocket) -> Void

    init(_ socket: StreamSocket, giveBack: @escaping @Sendable (StreamSocket) -> Void) {
        self.socket = socket
        self.giveBack = giveBack
        // A report may be large, but a broken daemon must not fill our memory.
        reader = LineReader(socket, limit: 64 << 20)
    }

    deinit {
        // The daemon notices that the connection is closed, and cancels the handler.
        if !hasEnded.withLock({ $0 }) { socket.close() }
    }

    func ask(_ line: [UInt8]) async throws {
        do {
            try await socket.write(line)
        } catch is SystemFailure {
            // The daemon closed the connection, perhaps after an error such as "too many connections": `next` reads it.
        }
    }

    func next() async throws -> Response? {
        if hasEnded.withLock({ $0 }) { return nil }
        switch try await reader.next() {
        case .end:
            throw DaemonError(
                .disconnected,
                "The daemon ended before its answer was complete; whether the request took effect is unknown. "
                    + "Check \"pipectl status\" before you repeat it.")
        case .tooLong:
            throw DaemonError(.tooLarge, "The daemon sent a line of more than 64 MiB. Ask for less at a time.")
        case .line(let line):
            let answer: Envelope.Answer<Response> = try Envelope.answer(line)
            if let error = answer.error { throw error }
            if let reply = answer.reply { return reply }
            hasEnded.withLock { $0 = true }
            giveBack(socket)
            return nil
        }
    }
}
