#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

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
            bytes.withContiguousStorageIfAvailable { place(of: wanted, in: $0) }
                // Some texts from Foundation on macOS are not contiguous in memory.
                ?? Array(bytes).withUnsafeBufferPointer { place(of: wanted, in: $0) }
        }
        guard let offset else { return nil }
        let start = bytes.index(bytes.startIndex, offsetBy: offset)
        return start..<bytes.index(start, offsetBy: count)
    }
}

/// The offset of the first place with the bytes `wanted`.
private func place(of wanted: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let start = text.baseAddress, let first = wanted.baseAddress, !wanted.isEmpty else { return nil }
    var position = 0
    // memmem(3) would do this, but it was not in POSIX before 2024.
    while position + wanted.count <= text.count,
        let found = memchr(start + position, Int32(wanted[0]), text.count - wanted.count - position + 1)
    {
        if memcmp(found, first, wanted.count) == 0 { return UnsafeRawPointer(found) - UnsafeRawPointer(start) }
        position = UnsafeRawPointer(found) - UnsafeRawPointer(start) + 1
    }
    return nil
}
