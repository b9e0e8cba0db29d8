import SystemCalls
/// Sends the replies of a handler to the client, one line each.
public struct Replies<Response: Codable & Sendable>: Sendable {
    let writer: LineWriter
    /// The user of the client, as the kernel recorded it when the connection was made; nil if it could not tell.
    public let user: UInt32?

    /// Sends one reply, and waits while the client reads more slowly than we send.
    ///
    /// Throws if the client is gone or the handler has already returned. Replies that several tasks send at the same
    /// time arrive whole, in no particular order.
    public func send(_ response: Response) async throws {
        try await writer.write(try Envelope.line(Envelope.Answer(reply: response)))
    }
}

/// The lines of one answer. Each of them is written as a whole.
actor LineWriter {
    private let socket: StreamSocket
    private var isWriting = false
    private var isEnded = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ socket: StreamSocket) { self.socket = socket }

    func write(_ line: [UInt8]) async throws {
        while isWriting { await withCheckedContinuation { waiting.append($0) } }
        guard !isEnded else {
            throw DaemonError(.disconnected, "This answer has ended: send replies before the handler returns.")
        }
        isWriting = true
        defer {
            isWriting = false
            if !waiting.isEmpty { waiting.removeFirst().resume() }
        }
        do {
            try await socket.write(line)
        } catch {
            // Half of a line may have been sent, and anything after it would be read as its rest.
            isEnded = true
            throw error
        }
    }

    /// Writes the last line.
    func end(_ line: [UInt8]) async throws {
        try await write(line)
        isEnded = true
    }
}
