import Synchronization
import SystemPackage

/// One attempt's output on its way: to the file at once, and its newest line to listeners ten times a second.
final class AttemptLog: Sendable {
    /// Each new line and the bytes written so far; only the newest waits for a slow reader.
    let lastLines: AsyncStream<(line: String, bytes: Int)>

    private struct State {
        var writer: LogWriter
        var nextLineAt = 0
    }

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
        let bytesWhenDue: Int? = state.withLock { state in
            state.writer.append(buffer, at: now)
            guard now >= state.nextLineAt else { return nil }
            state.nextLineAt = now + 100
            return state.writer.bytes
        }
        guard let bytesWhenDue else { return }
        let end = UnsafeRawBufferPointer(rebasing: buffer.suffix(2_048))
        guard let line = end.split(separator: UInt8(ascii: "\n")).last(where: { !$0.isEmpty }) else { return }
        continuation.yield((TerminalText.clean(line.suffix(400), colours: false), bytesWhenDue))
    }

    /// Ends ``lastLines``.
    func finishLines() { continuation.finish() }

    /// Closes the file: what was kept, and why something could not be.
    func finish() -> (log: LogRecord?, problem: Errno?) {
        state.withLock { state in
            let kept = state.writer.finish()
            return (kept, state.writer.problem)
        }
    }
}
