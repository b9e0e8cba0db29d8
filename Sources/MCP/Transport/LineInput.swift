import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Lines from a file descriptor. A thread of its own reads them, and waits while they are not taken.
public struct LineInput: Sendable {
    /// The longest line, in bytes. A longer one is reported as such and dropped.
    public static let limit = 4 << 20
    /// The number of lines that are read ahead.
    private static let ahead = 64

    /// A line, or the fact that one was too long.
    public enum Line: Sendable, Equatable {
        case line([UInt8])
        case tooLong
    }

    let lines: AsyncStream<Line>
    private let room: DispatchSemaphore

    /// Starts reading. It ends at the descriptor's end; the descriptor stays open.
    ///
    /// - Parameter owner: Lives until the last read: whoever closes the descriptor in the end.
    public init(descriptor: Int32 = 0, holding owner: (any AnyObject & Sendable)? = nil) {
        let (stream, continuation) = AsyncStream<Line>.makeStream()
        let room = DispatchSemaphore(value: Self.ahead)
        lines = stream
        self.room = room
        let thread = Thread {
            defer { withExtendedLifetime(owner) {} }
            var splitter = LineSplitter(limit: Self.limit)
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(descriptor, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for line in splitter.take(buffer[..<count]) {
                    room.wait()
                    continuation.yield(line)
                }
            }
            // A text without a line feed is not a message: its sender was stopped in the middle.
            continuation.finish()
        }
        thread.name = "lines in"
        thread.start()
    }

    /// Makes room for one more line. Call it once for each line that was taken.
    func taken() { room.signal() }
}

/// Splits a stream of bytes into lines.
struct LineSplitter {
    let limit: Int
    private var held: [UInt8] = []
    private var isTooLong = false

    init(limit: Int) { self.limit = limit }

    mutating func take(_ bytes: ArraySlice<UInt8>) -> [LineInput.Line] {
        var lines: [LineInput.Line] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            hold(rest[..<end])
            lines.append(isTooLong ? .tooLong : .line(held))
            (held, isTooLong) = ([], false)
            rest = rest[(end + 1)...]
        }
        hold(rest)
        // An empty line is not a message.
        return lines.filter { $0 != .line([]) && $0 != .line([UInt8(ascii: "\r")]) }
    }

    private mutating func hold(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        if held.count + bytes.count > limit { (held, isTooLong) = ([], true) } else { held += bytes }
    }
}
