#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Substring {
    /// The range of `words`, searched for by bytes. A log has many lines, and comparing characters takes a hundred
    /// times as long.
    package func place(of words: String) -> Range<Index>? {
        var words = words
        let count = words.utf8.count
        guard count > 0 else { return nil }
        let bytes = utf8
        let offset = words.withUTF8 { needle in
            bytes.withContiguousStorageIfAvailable { Self.offset(of: needle, in: $0) }
                ?? Self.offset(of: needle, in: bytes)
        }
        guard let offset else { return nil }
        let start = bytes.index(bytes.startIndex, offsetBy: offset)
        return start..<bytes.index(start, offsetBy: count)
    }

    private static func offset(
        of needle: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        guard let start = text.baseAddress, let what = needle.baseAddress, !needle.isEmpty else { return nil }
        var position = 0
        // memmem(3) would do this, but it was not in POSIX before 2024.
        while position + needle.count <= text.count,
            let found = memchr(start + position, Int32(needle[0]), text.count - needle.count - position + 1)
        {
            if memcmp(found, what, needle.count) == 0 { return UnsafeRawPointer(found) - UnsafeRawPointer(start) }
            position = UnsafeRawPointer(found) - UnsafeRawPointer(start) + 1
        }
        return nil
    }

    /// The same for a text that is not contiguous in memory, as some from Foundation on macOS are not.
    private static func offset(of needle: UnsafeBufferPointer<UInt8>, in bytes: Substring.UTF8View) -> Int? {
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(of: needle[0]) {
            if bytes[found...].starts(with: needle) { return bytes.distance(from: bytes.startIndex, to: found) }
            start = bytes.index(after: found)
        }
        return nil
    }
}
