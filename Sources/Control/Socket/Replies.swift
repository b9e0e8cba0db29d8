/// Where a handler of the daemon sends its answers, one line each.
public struct Replies<Response: Codable & Sendable>: Sendable {
    let writer: LineWriter
    /// Who asks, as the kernel recorded it when the connection was made; nil where it can't say.
    public let user: UInt32?

    /// Sends one reply, and waits while the other side reads slower than we send.
    ///
    /// Throws when the other side is gone or the handler has already returned. Replies sent from several tasks at
    /// once arrive whole, in no particular order.
    public func send(_ response: Response) async throws {
        try await writer.write(try Envelope.line(Envelope.Answer(reply: response)))
    }
}

/// The lines of one answer, each written as a whole.
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
            // Half a line may be out; anything after it would be read as its rest.
            isEnded = true
            throw error
        }
    }

    /// Writes the last line; nothing comes after it.
    func end(_ line: [UInt8]) async throws {
        try await write(line)
        isEnded = true
    }
}
