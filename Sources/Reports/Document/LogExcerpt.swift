/// Parts of a log that are shown elsewhere, as raw bytes of whole lines.
struct LogExcerpt {
    /// The last `count` lines, without empty lines at the end.
    static func tail(of bytes: [UInt8], lines count: Int) -> ArraySlice<UInt8> {
        var end = bytes.count
        while end > 0, bytes[end - 1] == 0x0A || bytes[end - 1] == 0x0D || bytes[end - 1] == 0x20 { end -= 1 }
        var start = end
        var lines = 0
        // A log without line feeds is cut, because an excerpt is to be read.
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

    /// The last failure in the lines that name `word`, with the lines that follow; nil if there is none.
    static func mention(of word: String, in bytes: [UInt8], lines count: Int) -> String? {
        // Test runners repeat failures in full at the end of a log.
        let lines = String(decoding: bytes.suffix(1 << 20), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false)
        // The lines that start and end a test are known. The lines between them are of interest.
        let named = lines.indices.filter { names(lines[$0], word) && !isFrame(lines[$0]) }
        let failure = named.last { index in
            ["fail", "error", "issue", "assert"].contains { lines[index].lowercased().contains($0) }
        }
        guard let start = failure ?? named.last else { return nil }
        // A line that starts or ends another test ends the excerpt.
        let own = lines[start...].prefix(count)
        let end = own.dropFirst().firstIndex(where: isFrame) ?? own.endIndex
        return own[..<end].joined(separator: "\n")
    }

    /// Whether the line contains `word` as a whole word: `testOneMore` does not contain `testOne`.
    private static func names(_ line: Substring, _ word: String) -> Bool {
        line.contains(word)
            && line.ranges(of: word).contains { range in
                let before = range.lowerBound > line.startIndex ? line[line.index(before: range.lowerBound)] : " "
                let after = range.upperBound < line.endIndex ? line[range.upperBound] : " "
                return ![before, after].contains { $0.isLetter || $0.isNumber || $0 == "_" }
            }
    }

    /// Whether a runner starts or ends a test, a suite or the run with this line.
    private static func isFrame(_ line: Substring) -> Bool {
        if ["Test Case '", "Test Suite '", "=== RUN", "--- FAIL", "--- PASS", "not ok ", "ok "].contains(
            where: { line.hasPrefix($0) })
        {
            return true
        }
        // Swift Testing puts a symbol before the words.
        let words = line.drop { $0 != " " }.dropFirst()
        guard words.hasPrefix("Test ") || words.hasPrefix("Suite ") else { return false }
        return words.hasSuffix(" started.") || words.contains(" passed after ") || words.contains(" failed after ")
    }
}
