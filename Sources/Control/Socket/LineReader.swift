import SystemCalls
internal import Synchronization

/// Splits the bytes from a socket into lines. For one task at a time.
final class LineReader: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// There is no newline before this index.
        var searched = 0
        var hasEnded = false
    }

    private let socket: StreamSocket
    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: The most bytes of a line, without its newline.
    init(_ socket: StreamSocket, limit: Int) {
        self.socket = socket
        self.limit = limit
    }

    enum Line: Equatable {
        case line([UInt8])
        /// The sender has ended; `cut` if it left an incomplete line.
        case end(cut: Bool)
        case tooLong
    }

    /// The next line without its newline. Throws `CancellationError` only.
    func next() async throws -> Line {
        while true {
            if let line = state.withLock({ Self.take(from: &$0, limit: limit) }) { return line }
            try await fill()
        }
    }

    /// The next line if it is complete already, without waiting.
    func nextIfHere() -> Line? {
        if let line = state.withLock({ Self.take(from: &$0, limit: limit) }) { return line }
        var chunk: [UInt8] = []
        guard let count = socket.receive(into: &chunk) else { return nil }
        return state.withLock { state in
            state.bytes += chunk
            if count == 0 { state.hasEnded = true }
            return Self.take(from: &state, limit: limit)
        }
    }

    /// Whether part of a line has arrived.
    var isMidLine: Bool { state.withLock { !$0.bytes.isEmpty } }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Waits until the first bytes of a line are here, or the end.
    func untilSomethingCame() async throws {
        while !isMidLine && !hasEnded { try await fill() }
    }

    /// Returns when the other side is gone, and keeps what it sends until then; throws `CancellationError`.
    func untilGone() async throws {
        while state.withLock({ !$0.hasEnded && $0.bytes.count <= limit }) { try await fill() }
        // The client sends no more, or more than is kept, and may still read. The kernel has no event for its end that
        // does not fire all the time now, so this rare case is checked once a second.
        while !socket.hasHungUp { try await Task.sleep(for: .seconds(1)) }
    }

    private func fill() async throws {
        var chunk: [UInt8] = []
        let goesOn = try await socket.read(into: &chunk)
        state.withLock { state in
            state.bytes += chunk
            if !goesOn { state.hasEnded = true }
        }
    }

    private static func take(from state: inout State, limit: Int) -> Line? {
        if let newline = state.bytes[state.searched...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(state.bytes[..<newline])
            state.bytes.removeSubrange(...newline)
            state.searched = 0
            return line.count > limit ? .tooLong : .line(line)
        }
        state.searched = state.bytes.count
        if state.bytes.count > limit { return .tooLong }
        return state.hasEnded ? .end(cut: !state.bytes.isEmpty) : nil
    }
}
