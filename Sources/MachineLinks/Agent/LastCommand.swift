import Concurrency
import Sandbox
import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A command that cleans up: it runs to its end even if the task was cancelled.
struct LastCommand: Sendable {
    let words: [String]
    let environment: [String: String]
    /// After this time it is killed.
    var limit = Duration.seconds(15)
    private static let most = 64 << 10

    /// - Returns: What it printed to standard output, 64 KiB at most; nil if it can't be started or did not end with 0.
    func output() async -> String? {
        try? await onOwnThread {
            guard let (process, number) = try? PipedProcess.start(words, environment: environment) else { return nil }
            let end = ContinuousClock.now + limit
            var output: [UInt8] = []
            do {
                let socket = Descriptor(number)
                socket.use { Self.read($0, into: &output, until: end) }
            }
            let left = max(end - .now, .milliseconds(100))
            guard process.end(grace: left).exitCode == 0 else { return nil }
            return String(decoding: output, as: UTF8.self)
        }
    }

    private static func read(_ socket: Int32, into output: inout [UInt8], until end: ContinuousClock.Instant) {
        _ = shutdown(socket, Int32(SHUT_WR))
        var piece = [UInt8](repeating: 0, count: 4_096)
        while output.count < most, ContinuousClock.now < end {
            var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 200) > 0 else { continue }
            let count = recv(socket, &piece, piece.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            output += piece[..<count]
        }
    }
}
