import Concurrency
package import Foundation
package import Masking
package import Results
import Synchronization
package import SystemPackage
import TerminalText

/// The output of one running attempt. It is masked, written to the file at once, and its newest line goes to listeners
/// at most ten times a second.
///
/// Everything that receives bytes from ``append(_:)`` sees masked output only.
package final class AttemptLog: Sendable {
    /// Each new line and the number of bytes written so far. A slow reader gets only the newest line.
    package let lastLines: AsyncStream<(line: String, bytes: Int)>

    fileprivate struct State {
        var writer: LogWriter
        /// Nil if the run has no secrets, so that masking costs nothing.
        var masking: MaskingStream?
        var nextLineAt = 0
        /// The last bytes of the output.
        var end: [UInt8] = []
        /// Whether ``end`` has changed since listeners were last told.
        var isUntold = false
        /// Those who wait for more output.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var isOver = false

        mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
            if waiting.isEmpty { return [] }
            defer { waiting = [:] }
            return Array(waiting.values)
        }

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

    /// The log's file.
    package let path: FilePath
    private let state: Mutex<State>
    private let masker: Masker?
    private let continuation: AsyncStream<(line: String, bytes: Int)>.Continuation
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant

    /// - Parameter begin: When the attempt began; nil for now.
    package init(folder: FilePath, name: String, limits: LogLimits, masker: Masker? = nil, since begin: Date? = nil) {
        self.masker = masker
        path = folder.appending(name)
        state = Mutex(
            State(
                writer: LogWriter(folder: folder, name: name, limits: limits), masking: masker.map(MaskingStream.init)))
        (lastLines, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        start = clock.now - .seconds(begin.map { max(0, Date().timeIntervalSince($0)) } ?? 0)
    }

    /// The time since the attempt began.
    package var elapsed: Duration { clock.now - start }

    /// The last lines of the output, masked.
    package var end: String { String(decoding: state.withLock { $0.end }, as: UTF8.self) }

    private var milliseconds: Int { Int(elapsed / .milliseconds(1)) }

    package func append(_ buffer: UnsafeRawBufferPointer) {
        let now = milliseconds
        let (due, waiting) = state.withLock {
            state -> ((end: [UInt8], bytes: Int)?, [CheckedContinuation<Void, Never>]) in
            if var masking = state.masking {
                // The stream is moved out of the state while it works, so that its buffer is not copied.
                state.masking = nil
                masking.feed(buffer) { state.keep($0, at: now) }
                state.masking = masking
            } else {
                state.keep(buffer, at: now)
            }
            let waiting = state.takeWaiting()
            guard state.isUntold, now >= state.nextLineAt else { return (nil, waiting) }
            state.nextLineAt = now + 100
            state.isUntold = false
            return ((state.end, state.writer.bytes), waiting)
        }
        for waiter in waiting { waiter.resume() }
        if let due { tell(due.end, due.bytes) }
    }

    package func append(_ text: String) { Array(text.utf8).withUnsafeBytes { append($0) } }

    private func tell(_ end: [UInt8], _ bytes: Int) {
        guard let line = end.split(separator: UInt8(ascii: "\n")).last(where: { !$0.isEmpty }) else { return }
        let text = TerminalText.clean(line.suffix(400), colours: false)
        // Removing escape sequences may have joined the parts of a secret, so the text is masked again.
        continuation.yield((masker?.masked(text) ?? text, bytes))
    }

    /// Writes the output that the masking held back, reports the last line and finishes ``lastLines``.
    package func finishLines() {
        let now = milliseconds
        let untold: (end: [UInt8], bytes: Int)? = state.withLock { state in
            state.flush(at: now)
            return state.isUntold ? (state.end, state.writer.bytes) : nil
        }
        if let untold { tell(untold.end, untold.bytes) }
        continuation.finish()
    }

    /// Closes the file. Returns the log's record, and the error if part of the log could not be written.
    package func finish() -> (log: LogRecord?, problem: Errno?) {
        let now = milliseconds
        let (kept, problem, waiting) = state.withLock { state in
            state.flush(at: now)
            let kept = state.writer.finish()
            state.isOver = true
            return (kept, state.writer.problem, state.takeWaiting())
        }
        for waiter in waiting { waiter.resume() }
        return (kept, problem)
    }
}

/// For those who follow the output.
extension AttemptLog {
    var extent: (bytes: Int, isOver: Bool) { state.withLock { ($0.writer.bytes, $0.isOver) } }

    /// Where the output is now.
    var layout: LogLayout { state.withLock { $0.writer.layout } }

    func wait(beyond bytes: Int) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // Checked under the lock: a later cancellation finds the waiter.
                    if Task.isCancelled || state.isOver || state.writer.bytes > bytes { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
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
