extension StringProtocol {
    /// The first range with the same bytes as `text`; nil if there is none, or if `text` is empty.
    ///
    /// The standard library's search compares characters: it takes a hundred times as long, and does not find a `'`
    /// before a combining mark.
    package func byteRange(of text: String) -> Range<Index>? {
        var text = text
        let count = text.utf8.count
        guard count > 0 else { return nil }
        let bytes = utf8
        let offset = text.withUTF8 { wanted in
            bytes.withContiguousStorageIfAvailable {
                UnsafeRawBufferPointer($0).offset(of: UnsafeRawBufferPointer(wanted))
            }
                // Some texts from Foundation on macOS are not contiguous in memory.
                ?? Array(bytes).withUnsafeBytes { $0.offset(of: UnsafeRawBufferPointer(wanted)) }
        }
        guard let offset else { return nil }
        let start = bytes.index(bytes.startIndex, offsetBy: offset)
        return start..<bytes.index(start, offsetBy: count)
    }
}

extension Substring {
    /// Whether the first bytes are those of `text`.
    ///
    /// `hasPrefix` compares characters, which is too slow for twenty words at each line of a log.
    package func startsWith(bytesOf text: String) -> Bool { utf8.starts(with: text.utf8) }
}
