#if canImport(Glibc)
    import CLinux
#elseif canImport(Darwin)
    import Darwin
#endif

extension UnsafeRawBufferPointer {
    /// The offset of the first place from `start` on that has the bytes `wanted`; nil if there is none, or if `wanted`
    /// is empty.
    ///
    /// It searches some 1 GB a second, with memmem(3).
    package func offset(of wanted: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard start < count, let base = baseAddress, let first = wanted.baseAddress, !wanted.isEmpty else { return nil }
        return memmem(base + start, count - start, first, wanted.count).map { UnsafeRawPointer($0) - base }
    }

    /// The offset of the first place from `start` on that has the bytes of `text`.
    package func offset(of text: String, from start: Int = 0) -> Int? {
        var text = text
        return text.withUTF8 { offset(of: UnsafeRawBufferPointer($0), from: start) }
    }
}
