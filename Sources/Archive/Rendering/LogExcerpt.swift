import Engine

/// Parts of a log that are shown outside of it, as raw bytes of whole lines.
struct LogExcerpt {
    /// The last `count` lines; lines at the end that hold nothing are left out.
    static func tail(of bytes: [UInt8], lines count: Int) -> ArraySlice<UInt8> {
        var end = bytes.count
        while end > 0, bytes[end - 1] == 0x0A || bytes[end - 1] == 0x0D || bytes[end - 1] == 0x20 { end -= 1 }
        var start = end
        var lines = 0
        // A log without line feeds is cut: an excerpt is something to read.
        let furthest = max(0, end - count * 2_000)
        while start > furthest {
            if bytes[start - 1] == 0x0A {
                lines += 1
                if lines == count { break }
            }
            start -= 1
        }
        return count > 0 ? bytes[start..<end] : bytes[end..<end]
    }

    /// The last failure among the lines that name `word`, with what follows it; nil if none does.
    static func mention(of word: String, in bytes: [UInt8], lines count: Int) -> String? {
        // The end of a log is where failures are said again, in full.
        let lines = String(decoding: bytes.suffix(1 << 20), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let named = lines.indices.filter { lines[$0].contains(word) }
        let failure = named.last { index in
            ["fail", "error", "issue", "assert"].contains { lines[index].lowercased().contains($0) }
        }
        guard let start = failure ?? named.last else { return nil }
        return lines[start...].prefix(count).joined(separator: "\n")
    }
}
