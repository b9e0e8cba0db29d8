#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Substring {
    /// Where `words` begin and end, by bytes: a log has many lines, and comparing characters costs a hundred times as much.
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
        // memmem(3) would be it, and is no part of POSIX before 2024.
        while position + needle.count <= text.count,
            let found = memchr(start + position, Int32(needle[0]), text.count - needle.count - position + 1)
        {
            if memcmp(found, what, needle.count) == 0 { return UnsafeRawPointer(found) - UnsafeRawPointer(start) }
            position = UnsafeRawPointer(found) - UnsafeRawPointer(start) + 1
        }
        return nil
    }

    /// The same in a text that is not in one piece of memory, as some that come from Foundation on a Mac.
    private static func offset(of needle: UnsafeBufferPointer<UInt8>, in bytes: Substring.UTF8View) -> Int? {
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(of: needle[0]) {
            if bytes[found...].starts(with: needle) { return bytes.distance(from: bytes.startIndex, to: found) }
            start = bytes.index(after: found)
        }
        return nil
    }
}
