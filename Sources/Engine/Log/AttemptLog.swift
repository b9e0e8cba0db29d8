import Masking
import Results
import TerminalText
import Synchronization
import SystemPackage

/// One attempt's output on its way: masked, to the file at once, and its newest line to listeners ten times a second.
///
/// Everything behind ``append(_:)`` sees what the masking lets through and nothing else.
final class AttemptLog: Sendable {
    /// Each new line and the bytes written so far; only the newest waits for a slow reader.
    let lastLines: AsyncStream<(line: String, bytes: Int)>

    fileprivate struct State {
        var writer: LogWriter
        /// Nil when the run was given no secret, which costs nothing then.
        var masking: MaskingStream?
        var nextLineAt = 0
        /// The end of the output.
        var end: [UInt8] = []
        /// Whether a listener has not been told of ``end``.
        var isUntold = false

        mutating func keep(_ buffer: UnsafeRawBufferPointer, at milliseconds: Int) {
            guard !buffer.isEmpty else { return }
            writer.append(buffer, at: milliseconds)
            isUntold = true
            if buffer.count >= AttemptLog.window {
                end.removeAll(keepingCapacity: true)
            } else if end.count + buffer.count > 2 * AttemptLog.window {
                end.removeFirst(end.count - AttemptLog.window)
            }
            end.append(contentsOf: buffer.suffix(AttemptLog.window))
        }
    }

    /// Bytes at the end of the output in which its last line is looked for.
    private static let window = 2_048

    private let state: Mutex<State>
    private let masker: Masker?
    private let continuation: AsyncStream<(line: String, bytes: Int)>.Continuation
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    init(folder: FilePath, name: String, limits: LogLimits, masker: Masker? = nil) {
        self.masker = masker
        state = Mutex(
            State(
                writer: LogWriter(folder: folder, name: name, limits: limits), masking: masker.map(MaskingStream.init)))
        (lastLines, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        start = clock.now
    }

    /// Time since the attempt began.
    var elapsed: Duration { clock.now - start }

    /// The last lines of the output, masked.
    var end: String { String(decoding: state.withLock { $0.end }, as: UTF8.self) }

    private var milliseconds: Int { Int(elapsed / .milliseconds(1)) }

    func append(_ buffer: UnsafeRawBufferPointer) {
        let now = milliseconds
        let due: (end: [UInt8], bytes: Int)? = state.withLock { state in
            if var masking = state.masking {
                // Taken out meanwhile, so that its buffer is not copied.
                state.masking = nil
                masking.feed(buffer) { state.keep($0, at: now) }
                state.masking = masking
            } else {
                state.keep(buffer, at: now)
            }
            guard state.isUntold, now >= state.nextLineAt else { return nil }
            state.nextLineAt = now + 100
            state.isUntold = false
            return (state.end, state.writer.bytes)
        }
        if let due { tell(due.end, due.bytes) }
    }

    func append(_ text: String) { Array(text.utf8).withUnsafeBytes { append($0) } }

    private func tell(_ end: [UInt8], _ bytes: Int) {
        guard let line = end.split(separator: UInt8(ascii: "\n")).last(where: { !$0.isEmpty }) else { return }
        let text = TerminalText.clean(line.suffix(400), colours: false)
        // What the escape sequences of a terminal kept apart may have come together.
        continuation.yield((masker?.masked(text) ?? text, bytes))
    }

    /// Lets go what was held back, tells of the last line and ends ``lastLines``.
    func finishLines() {
        let now = milliseconds
        let untold: (end: [UInt8], bytes: Int)? = state.withLock { state in
            state.flush(at: now)
            return state.isUntold ? (state.end, state.writer.bytes) : nil
        }
        if let untold { tell(untold.end, untold.bytes) }
        continuation.finish()
    }

    /// Closes the file: what was kept, and why something could not be.
    func finish() -> (log: LogRecord?, problem: Errno?) {
        let now = milliseconds
        return state.withLock { state in
            state.flush(at: now)
            let kept = state.writer.finish()
            return (kept, state.writer.problem)
        }
    }
}

extension AttemptLog.State {
    fileprivate mutating func flush(at milliseconds: Int) {
        guard var masking else { return }
        self.masking = nil
        masking.flush { keep($0, at: milliseconds) }
        self.masking = masking
    }
}
