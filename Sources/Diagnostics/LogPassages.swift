#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Which parts of a long text are read for what is wrong: its start, its end, and what lies about the words with which
/// tools say so.
///
/// The words are searched by memory alone, a few tens of milliseconds for the 32 MiB that are kept of a log; what is
/// read line by line after that is at most the bytes asked for, whatever the text holds.
struct LogPassages {
    /// Bytes that are read together.
    var maximumBytes: Int

    /// What errors are said with; the forms that have none of them are read in the start and the end alone.
    private static let words = [
        "rror: ", " recorded an issue", "Assertion ", "Traceback (most", "Program crashed", "undefined reference",
    ]
    /// Passages that one word may have, so that none keeps the others out.
    private static let mostOfAWord = 4

    /// Ranges of whole lines in order, none of which touch; lines longer than a passage are cut.
    func ranges(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        guard bytes.count > maximumBytes else { return bytes.isEmpty ? [] : [0..<bytes.count] }
        let quarter = maximumBytes / 4
        let middle = quarter..<(bytes.count - quarter)
        let length = (maximumBytes - 2 * quarter) / (Self.words.count * Self.mostOfAWord)
        var found: [Range<Int>] = []
        for word in Self.words {
            var (start, count) = (middle.lowerBound, 0)
            while count < Self.mostOfAWord, let hit = Self.find(word, in: bytes, from: start, to: middle.upperBound) {
                // An error's own line, and what was said just before: the function, the file that is compiled.
                let begin = Self.lineStart(
                    before: max(hit - length / 8, middle.lowerBound), in: bytes, atMost: length / 8)
                let end = min(max(begin, middle.lowerBound) + length, middle.upperBound)
                if hit < end { found.append(max(begin, middle.lowerBound)..<end) }
                (start, count) = (max(end, hit + 1), count + 1)
            }
        }
        var ranges = [0..<quarter]
        for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) + [middle.upperBound..<bytes.count] {
            let last = ranges[ranges.count - 1]
            if range.lowerBound <= last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                ranges.append(range)
            }
        }
        return ranges
    }

    private static func find(_ word: String, in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int? {
        guard start < end, let base = bytes.baseAddress else { return nil }
        var word = word
        return word.withUTF8 { word in
            guard let needle = word.baseAddress, let hit = memmem(base + start, end - start, needle, word.count) else {
                return nil
            }
            return UnsafeRawPointer(hit) - base
        }
    }

    /// The start of the line at `place`, if it is near.
    private static func lineStart(before place: Int, in bytes: UnsafeRawBufferPointer, atMost count: Int) -> Int {
        var index = place
        while index > 0, place - index < count, bytes[index - 1] != 0x0A { index -= 1 }
        return index
    }
}
