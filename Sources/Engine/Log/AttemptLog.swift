import Synchronization
import SystemPackage

/// One attempt's output on its way: to the file at once, and its newest line to listeners ten times a second.
final class AttemptLog: Sendable {
    /// Each new line and the bytes written so far; only the newest waits for a slow reader.
    let lastLines: AsyncStream<(line: String, bytes: Int)>

    private struct State {
        var writer: LogWriter
        var nextLineAt = 0
        /// The end of the newest output, while a listener has not been told of it.
        var untold: [UInt8] = []
    }

    /// Bytes at the end of a piece in which its last line is looked for.
    private static let window = 2_048

    private let state: Mutex<State>
    private let continuation: AsyncStream<(line: String, bytes: Int)>.Continuation
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    init(folder: FilePath, name: String, limits: LogLimits) {
        state = Mutex(State(writer: LogWriter(folder: folder, name: name, limits: limits)))
        (lastLines, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        start = clock.now
    }

    /// Time since the attempt began.
    var elapsed: Duration { clock.now - start }

    func append(_ buffer: UnsafeRawBufferPointer) {
        let now = Int(elapsed / .milliseconds(1))
        let end = UnsafeRawBufferPointer(rebasing: buffer.suffix(AttemptLog.window))
        let bytesWhenDue: Int? = state.withLock { state in
            state.writer.append(buffer, at: now)
            state.untold.removeAll(keepingCapacity: true)
            guard now >= state.nextLineAt else {
                state.untold.append(contentsOf: end)
                return nil
            }
            state.nextLineAt = now + 100
            return state.writer.bytes
        }
        if let bytesWhenDue { tell(end, bytesWhenDue) }
    }

    func append(_ text: String) { Array(text.utf8).withUnsafeBytes { append($0) } }

    private func tell(_ end: some Collection<UInt8>, _ bytes: Int) {
        guard let line = end.split(separator: UInt8(ascii: "\n")).last(where: { !$0.isEmpty }) else { return }
        continuation.yield((TerminalText.clean(line.suffix(400), colours: false), bytes))
    }

    /// Tells of the last line and ends ``lastLines``.
    func finishLines() {
        let (end, bytes) = state.withLock { ($0.untold, $0.writer.bytes) }
        if !end.isEmpty { tell(end, bytes) }
        continuation.finish()
    }

    /// Closes the file: what was kept, and why something could not be.
    func finish() -> (log: LogRecord?, problem: Errno?) {
        state.withLock { state in
            let kept = state.writer.finish()
            return (kept, state.writer.problem)
        }
    }
}
