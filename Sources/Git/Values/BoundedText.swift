/// Text of a commit, cut to a limited length, because whoever pushes decides how long it is.
enum BoundedText {
    /// At most `limit` bytes of valid UTF-8. A text that was cut ends with `…`. Bytes that are not UTF-8 appear as
    /// U+FFFD.
    ///
    /// - Parameter bytes: The text without a zero at the end.
    static func cut(_ bytes: UnsafeBufferPointer<UInt8>, to limit: Int) -> String {
        guard bytes.count > limit else { return cut(String(decoding: bytes, as: UTF8.self), to: limit) }
        // A character that the cut splits is removed below.
        return cut(String(decoding: bytes[..<limit], as: UTF8.self), to: limit, isCut: true)
    }

    /// The same for a C string that ends with a zero; nil gives an empty text.
    static func cut(_ text: UnsafePointer<CChar>?, to limit: Int) -> String {
        guard let text else { return "" }
        var count = 0
        while count <= limit, text[count] != 0 { count += 1 }
        return text.withMemoryRebound(to: UInt8.self, capacity: count) {
            cut(UnsafeBufferPointer(start: $0, count: count), to: limit)
        }
    }

    static func cut(_ text: String, to limit: Int, isCut: Bool = false) -> String {
        guard isCut || text.utf8.count > limit else { return text }
        let end = "…"
        var kept = text.unicodeScalars[...]
        var count = kept.reduce(0) { $0 + UTF8.width($1) }
        while let last = kept.last, count > limit - end.utf8.count || isCut && last == "\u{FFFD}" {
            count -= UTF8.width(last)
            kept.removeLast()
        }
        return String(kept) + end
    }
}
