import SystemCalls
internal import Foundation

/// The limits of a daemon for its clients.
public struct DaemonLimits: Sendable, Hashable {
    /// The most bytes of a request line.
    public var requestLine = 1 << 20
    /// The most connections at the same time.
    public var connections = 128
    /// How many of them may have a request that waits, as for a verdict.
    public var waiting = 96
    /// How long the first request, and every one that was begun, may take to arrive.
    public var requestDeadline: Duration = .seconds(10)

    public init() {}
}

/// Answers requests over a Unix socket that only its owner can reach.
///
/// Every connection is a task of its own, so a slow, silent or broken client delays nobody else. A connection may carry
/// many requests, one after another. The handler of a client that is gone is cancelled.
public struct DaemonServer<Request: Codable & Sendable, Response: Codable & Sendable>: Sendable {
    public typealias Handler = @Sendable (Request, Replies<Response>) async throws -> Void

    private let path: String
    private let limits: DaemonLimits
    private let waits: @Sendable (Request) -> Bool
    private let handler: Handler

    /// Prepares a server at `path`; nothing is opened before ``run(whenListening:)``.
    ///
    /// The answer ends when `handler` returns. A ``DaemonError`` it throws reaches the client as it is, any other
    /// error as ``DaemonError/Code/failed`` with the error's description.
    ///
    /// - Parameter waits: Whether the answer to a request may take as long as a run does.
    public init(
        path: String, limits: DaemonLimits = DaemonLimits(),
        waits: @escaping @Sendable (Request) -> Bool = { _ in false }, handler: @escaping Handler
    ) {
        self.path = path
        self.limits = limits
        self.waits = waits
        self.handler = handler
    }

    /// Serves until the task is cancelled, then removes the socket and returns when all handlers have.
    ///
    /// `whenListening` is called once connections are accepted. Throws ``DaemonError``: `alreadyRunning` if somebody
    /// answers at the path, `socket` if it cannot be used. A socket file that nobody answers at is replaced.
    public func run(whenListening: @Sendable () async -> Void = {}) async throws {
        let listener = try await DaemonListener.open(at: path)
        defer { listener.remove() }
        await whenListening()
        let open = Connections(limits)
        await withDiscardingTaskGroup { group in
            while let socket = await listener.next() {
                guard let guest = open.enter(socket) else {
                    let busy = "All \(limits.connections) connections to the daemon are taken. Try again shortly."
                    socket.writeNow(Envelope.line(DaemonError(.busy, busy)))
                    continue
                }
                group.addTask {
                    let connection = DaemonConnection(socket, limits: limits, handler: handler) { request in
                        try open.begin(guest, waits: waits(request))
                    } end: {
                        open.end(guest)
                    }
                    await connection.serve()
                    open.leave(guest)
                }
            }
            group.cancelAll()
        }
    }
}
