#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Makes untrusted text, such as a step's output or a change's name, safe to show on a terminal.
///
/// Colours and weights (SGR) remain if requested. All other escape sequences are removed. Other control characters
/// become their pictures (`␀`), invalid UTF-8 becomes U+FFFD, and scalars that reorder or hide text become `<U+202E>`.
/// Of a line that was overwritten with carriage returns, the last state is shown. Every line ends in the terminal's
/// plain style, and the next line sets its style again, so that lines of several steps can be interleaved.
///
/// A value cleans a stream that arrives in pieces of any size:
///
///     var text = TerminalText(colours: true)
///     for try await chunk in output { print(text.feed(chunk), terminator: "") }
///     print(text.finish())
public struct TerminalText: Sendable {
    /// The most bytes of an unfinished line that are held back. A longer line is broken there.
    static let heldBackLimit = 1 << 20

    private var scanner: ANSIScanner
    private var heldBack: [UInt8] = []

    /// - Parameters:
    ///   - colours: Whether SGR sequences remain.
    ///   - lineLimit: The most characters of a line that are shown; the number of the others is shown instead. Nil: no
    ///     limit.
    public init(colours: Bool, lineLimit: Int? = nil) {
        scanner = ANSIScanner(colours: colours, lineLimit: lineLimit)
    }

    /// Takes the next bytes of the stream and returns the lines that they complete, each with its line feed.
    public mutating func feed(_ bytes: some Sequence<UInt8>) -> String {
        var output: [UInt8] = []
        withBytes(of: bytes) { take($0, into: &output) }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns what is left when the stream has ended: the last line, if it has no line feed.
    public mutating func finish() -> String {
        var sink = Sink()
        heldBack.withUnsafeBufferPointer { scanner.scan($0, into: &sink) }
        heldBack = []
        return String(decoding: sink.output, as: UTF8.self)
    }

    private mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, into output: inout [UInt8]) {
        var sink = Sink()
        let start = scanLines(of: bytes, into: &sink)
        heldBack.append(contentsOf: bytes[start...])
        if heldBack.count > Self.heldBackLimit {
            heldBack.withUnsafeBufferPointer { scanner.scan($0, into: &sink) }
            sink.endLine()
            heldBack.removeAll(keepingCapacity: true)
        }
        output = sink.output
    }

    /// Scans all complete lines, the first together with the bytes that were held back. Returns where the unfinished
    /// line starts.
    private mutating func scanLines(of bytes: UnsafeBufferPointer<UInt8>, into sink: inout Sink) -> Int {
        sink.output.reserveCapacity(bytes.count + bytes.count / 8)
        var start = 0
        while let base = bytes.baseAddress, start < bytes.count,
            let found = memchr(base + start, 0x0A, bytes.count - start)
        {
            let end = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            let line = UnsafeBufferPointer(rebasing: bytes[start..<end])
            if heldBack.isEmpty {
                scanner.scan(line, into: &sink)
            } else {
                heldBack.append(contentsOf: line)
                heldBack.withUnsafeBufferPointer { scanner.scan($0, into: &sink) }
                heldBack.removeAll(keepingCapacity: true)
            }
            sink.endLine()
            start = end + 1
        }
        return start
    }

    /// All of `bytes`, made safe. The result ends with a line feed if and only if `bytes` does.
    public static func clean(_ bytes: some Sequence<UInt8>, colours: Bool, lineLimit: Int? = nil) -> String {
        var text = TerminalText(colours: colours, lineLimit: lineLimit)
        var sink = Sink()
        withBytes(of: bytes) { bytes in
            let rest = text.scanLines(of: bytes, into: &sink)
            text.scanner.scan(UnsafeBufferPointer(rebasing: bytes[rest...]), into: &sink)
        }
        return String(decoding: sink.output, as: UTF8.self)
    }

    /// A name, branch, path or status text on one line: control characters have no effect and are visible.
    ///
    /// - Parameter limit: The most characters that are shown. A longer text ends with `…`.
    public static func name(_ text: String, limit: Int = 200) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text }
        var output = ""
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < limit else { return output + "…" }
            count += 1
            if scalar.value < 0x20 {
                // 0x2400 + a value below 0x20 is always a scalar: the pictures of the control characters.
                output.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? " ")
            } else if scalar.value == 0x7F {
                output.append("\u{2421}")
            } else if scalar.value < 0x7F {
                output.unicodeScalars.append(scalar)
            } else {
                let decoded = DecodedScalar(scalar)
                switch decoded.visibility(after: false) {
                case .plain: output.unicodeScalars.append(scalar)
                case .marked, .invalid: output += String(decoding: decoded.marker, as: UTF8.self)
                }
            }
        }
        return output
    }

    /// A message of ours that may contain untrusted text: like ``name(_:limit:)``, but with several lines. Lines after
    /// the first are indented, so that none looks like the start of another message.
    public static func lines(_ text: String) -> String {
        // Split by scalars, because a carriage return and a line feed are one character.
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { name(String(Substring($0)), limit: .max) }.joined(separator: "\n  ")
    }

    /// Turns text and styles back into bytes for the terminal: text unchanged, styles as SGR.
    private struct Sink: ANSISink {
        var output: [UInt8] = []
        var lineStart = 0

        mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) { output.append(contentsOf: bytes) }

        mutating func restartLine() { output.removeLast(output.count - lineStart) }

        mutating func change(to style: ANSIStyle) {
            if style == .plain {
                output.append(contentsOf: [0x1B, UInt8(ascii: "["), UInt8(ascii: "0"), UInt8(ascii: "m")])
            } else {
                style.appendSequence(to: &output)
            }
        }

        mutating func endLine() {
            output.append(UInt8(ascii: "\n"))
            lineStart = output.count
        }
    }
}

/// Calls `body` with the bytes in one contiguous buffer. They are copied only if they are not contiguous already.
package func withBytes(of bytes: some Sequence<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    if bytes.withContiguousStorageIfAvailable(body) == nil { Array(bytes).withUnsafeBufferPointer(body) }
}
