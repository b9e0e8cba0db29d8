import Masking
import Results
import TerminalText
import Synchronization
import SystemPackage

/// The output of one running attempt. It is masked, written to the file at once, and its newest line goes to listeners
/// at most ten times a second.
///
/// Everything that receives bytes from ``append(_:)`` sees masked output only.
final class AttemptLog: Sendable {
    /// Each new line and the number of bytes written so far. A slow reader gets only the newest line.
    let lastLines: AsyncStream<(line: String, bytes: Int)>

    fileprivate struct State {
        var writer: LogWriter
        /// Nil if the run has no secrets, so that masking costs nothing.
        var masking: MaskingStream?
        var nextLineAt = 0
        /// The last bytes of the output.
        var end: [UInt8] = []
        /// Whether ``end`` has changed since listeners were last told.
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

    /// The last line is searched for in this many bytes at the end of the output.
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

    /// The time since the attempt began.
    var elapsed: Duration { clock.now - start }

    /// The last lines of the output, masked.
    var end: String { String(decoding: state.withLock { $0.end }, as: UTF8.self) }

    private var milliseconds: Int { Int(elapsed / .milliseconds(1)) }

    func append(_ buffer: UnsafeRawBufferPointer) {
        let now = milliseconds
        let due: (end: [UInt8], bytes: Int)? = state.withLock { state in
            if var masking = state.masking {
                // The stream is moved out of the state while it works, so that its buffer is not copied.
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
        // Removing escape sequences may have joined the parts of a secret, so the text is masked again.
        continuation.yield((masker?.masked(text) ?? text, bytes))
    }

    /// Writes the output that the masking held back, reports the last line and finishes ``lastLines``.
    func finishLines() {
        let now = milliseconds
        let untold: (end: [UInt8], bytes: Int)? = state.withLock { state in
            state.flush(at: now)
            return state.isUntold ? (state.end, state.writer.bytes) : nil
        }
        if let untold { tell(untold.end, untold.bytes) }
        continuation.finish()
    }

    /// Closes the file. Returns the log's record, and the error if part of the log could not be written.
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
