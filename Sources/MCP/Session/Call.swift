import Synchronization

/// A running call of a tool, for reporting its progress.
public struct Call: Sendable {
    let token: JSON?
    let output: LineOutput
    private let steps = Steps()

    init(token: JSON?, output: LineOutput) {
        self.token = token
        self.output = output
    }

    /// Sends a progress message, if the client asked for progress.
    ///
    /// - Parameters:
    ///   - message: What is being done.
    ///   - done: How much of `total` is done. The reported number never decreases.
    public func progress(_ message: String, done: Int? = nil, total: Int? = nil) async {
        guard let token else { return }
        var params: [String: JSON] = [
            "progressToken": token, "progress": .integer(steps.next(done)), "message": .string(message),
        ]
        if done != nil, let total { params["total"] = .integer(total) }
        await output.send(["jsonrpc": "2.0", "method": "notifications/progress", "params": .object(params)])
    }
}

/// Numbers that only increase, as the protocol requires.
private final class Steps: Sendable {
    private let last = Mutex(-1)

    func next(_ wanted: Int?) -> Int {
        last.withLock { last in
            last = max(wanted ?? 0, last + 1)
            return last
        }
    }
}

/// Ends a call that its client has cancelled.
struct CallStop: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func stop() { continuation.finish() }

    /// Waits until the call is stopped or the task is cancelled.
    func wait() async { for await _ in stream {} }
}
