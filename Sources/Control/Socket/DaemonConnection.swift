import SystemCalls
/// The connection of one client, from its first request to its end.
struct DaemonConnection<Request: Codable & Sendable, Response: Codable & Sendable>: Sendable {
    private let socket: StreamSocket
    private let reader: LineReader
    private let limits: DaemonLimits
    private let handler: DaemonServer<Request, Response>.Handler
    private let begin: @Sendable (Request) throws -> Void
    private let end: @Sendable () -> Void

    /// - Parameters:
    ///   - begin: Called before a request is answered. An error that it throws is the answer.
    ///   - end: Called after the answer.
    init(
        _ socket: StreamSocket, limits: DaemonLimits, handler: @escaping DaemonServer<Request, Response>.Handler,
        begin: @escaping @Sendable (Request) throws -> Void, end: @escaping @Sendable () -> Void
    ) {
        self.socket = socket
        self.limits = limits
        self.handler = handler
        self.begin = begin
        self.end = end
        reader = LineReader(socket, limit: limits.requestLine)
    }

    func serve() async {
        defer { socket.close() }
        do {
            var isFirst = true
            while let line = try await nextLine(isFirst: isFirst) {
                isFirst = false
                let request: Request = try Envelope.question(line)
                try begin(request)
                let isThere = try await answer(request)
                end()
                guard isThere else { return }
            }
        } catch let error as DaemonError {
            socket.writeNow(Envelope.line(error))
        } catch is CancellationError {
            let text = "The daemon is stopping. Start it again, then repeat the request."
            socket.writeNow(Envelope.line(DaemonError(.stopping, text)))
        } catch {
            // The client is gone, so nobody can be told.
        }
    }

    /// The next request line, `nil` when the client is done.
    private func nextLine(isFirst: Bool) async throws -> [UInt8]? {
        // Between requests a client may stay silent for as long as it likes.
        if !isFirst { try await reader.untilSomethingCame() }
        // Mostly the whole line is there, and a deadline would leave a timer behind: Swift 6.3 keeps a cancelled
        // sleep's until it fires.
        let here = reader.nextIfHere()
        let line =
            if let here { here } else { try await withDeadline(limits.requestDeadline) { try await reader.next() } }
        switch line {
        case .line(let bytes): return bytes
        case .end(cut: false): return nil
        case .end(cut: true):
            throw DaemonError(.badRequest, "The last request has no newline. End each with one.")
        case .tooLong:
            throw DaemonError(
                .tooLarge, "A request may have \(limits.requestLine) bytes and this one has more. Send less at a time.")
        case nil:
            throw DaemonError(
                .timedOut,
                "No whole request arrived within \(limits.requestDeadline). Send one JSON object and a newline.")
        }
    }

    /// Runs the handler for as long as the client is there; `false` if it left.
    private func answer(_ request: Request) async throws -> Bool {
        let writer = LineWriter(socket)
        let result = await withTaskGroup(of: Result<Void, any Error>?.self) { group in
            group.addTask {
                do { return .success(try await handler(request, Replies(writer: writer, user: socket.peerUser))) } catch
                {
                    return .failure(error)
                }
            }
            group.addTask {
                // A cancelled wait means that the handler is done, or the daemon stops and the handler will be.
                (try? await reader.untilGone()) == nil ? .failure(CancellationError()) : nil
            }
            var first = await group.next() ?? nil
            if Task.isCancelled, case .failure(is CancellationError)? = first { first = await group.next() ?? nil }
            group.cancelAll()
            return first
        }
        switch result {
        case nil: return false
        case .success?: try await writer.end(Envelope.line(Envelope.Closing(end: true)))
        case .failure(let error)?:
            try Task.checkCancellation()
            try await writer.end(
                Envelope.line(error as? DaemonError ?? DaemonError(.failed, String(describing: error))))
        }
        return true
    }
}

/// What `body` returns, or `nil` if it takes longer than `limit`; `body` is cancelled then.
private func withDeadline<T: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> T
) async throws -> T? {
    try await withThrowingTaskGroup(of: T?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
