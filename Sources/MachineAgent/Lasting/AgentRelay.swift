import Concurrency
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Carries bytes between standard input and output and a lasting agent. It ends with either of them.
struct AgentRelay: Sendable {
    let folder: String
    /// How long the agent may take to make its socket, and to listen at it.
    private static let patience = (made: Duration.seconds(60), listened: Duration.seconds(2))

    /// - Throws: ``AgentProblem``, ``SystemFailure`` if nobody listens.
    func carry(input: Descriptor, output: Descriptor) throws -> Never {
        let socket = try connect()
        // Its calls block.
        _ = fcntl(socket.descriptor.number, F_SETFL, fcntl(socket.descriptor.number, F_GETFL) & ~O_NONBLOCK)
        let code = startThread {
            Self.copy(input, to: socket.descriptor)
            exit(0)
        }
        guard code == 0 else { throw SystemFailure("pthread_create", code) }
        Self.copy(socket.descriptor, to: output)
        exit(0)
    }

    private func connect() throws -> StreamSocket {
        try AgentRoom.check(folder)
        let begun = ContinuousClock.now
        while true {
            let socket = try StreamSocket.make()
            let code = socket.connect(to: AgentRoom.socket(in: folder))
            if code == 0 { return socket }
            let limit = code == ENOENT ? Self.patience.made : Self.patience.listened
            guard ContinuousClock.now - begun < limit, access(folder, X_OK) == 0 else {
                throw AgentProblem("no agent listens in \(folder): \(String(cString: strerror(code)))")
            }
            usleep(50_000)
        }
    }

    private static func copy(_ source: Descriptor, to target: Descriptor) {
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = source.use { number in
                piece.withUnsafeMutableBytes { read(number, $0.baseAddress, $0.count) }
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0, put(piece[..<count], to: target) else { return }
        }
    }

    private static func put(_ bytes: ArraySlice<UInt8>, to target: Descriptor) -> Bool {
        var left = bytes
        while !left.isEmpty {
            let count = target.use { number in
                left.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            left = left.dropFirst(count)
        }
        return true
    }
}
