import TerminalText

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Iterates over the lines of a part of a log, made safe to show.
enum LogLines {
    /// Calls `body` with each line without its end.
    ///
    /// It splits the text by bytes. Splitting by characters takes a hundred times as long, and a log can have a million
    /// lines.
    ///
    /// - Parameters:
    ///   - lineLimit: The most characters of a line that are shown.
    ///   - isSkipped: Whether a line of this length in bytes is skipped, before it is decoded.
    static func each(
        in bytes: some Sequence<UInt8>, lineLimit: Int, isSkipped: (_ bytes: Int) -> Bool = { _ in false },
        _ body: (Substring) -> Void
    ) {
        var text = TerminalText.clean(bytes, colours: false, lineLimit: lineLimit)
        text.withUTF8 { text in
            guard let base = text.baseAddress else { return }
            var start = 0
            while start < text.count {
                let end =
                    memchr(base + start, 0x0A, text.count - start).map {
                        UnsafeRawPointer($0) - UnsafeRawPointer(base)
                    } ?? text.count
                if !isSkipped(end - start) {
                    body(Substring(decoding: UnsafeBufferPointer(rebasing: text[start..<end]), as: UTF8.self))
                }
                start = end + 1
            }
        }
    }
}
