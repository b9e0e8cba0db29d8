import ForeignText

/// Which parts of a long text are searched for problems: its start, its end, and passages around words that are typical
/// of errors.
///
/// The words are searched for in memory, at some 1 GB a second. The line-by-line reading after that covers at most the
/// bytes asked for, whatever the text contains.
struct LogPassages {
    /// The most bytes that are read in total.
    var maximumBytes: Int

    /// Words that are typical of errors. Formats with none of these words are found only at the start and the end.
    private static let words = [
        "rror: ", " recorded an issue", "Assertion ", "Traceback (most", "Program crashed", "undefined reference",
    ]
    /// The most passages for one word, so that no word crowds out the others.
    private static let mostOfAWord = 4

    /// Ranges of whole lines in order; no two of them touch. Lines longer than a passage are cut.
    func ranges(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        guard bytes.count > maximumBytes else { return bytes.isEmpty ? [] : [0..<bytes.count] }
        let quarter = maximumBytes / 4
        let middle = quarter..<(bytes.count - quarter)
        let length = (maximumBytes - 2 * quarter) / (Self.words.count * Self.mostOfAWord)
        let before = UnsafeRawBufferPointer(rebasing: bytes[..<middle.upperBound])
        var found: [Range<Int>] = []
        for word in Self.words {
            var (start, count) = (middle.lowerBound, 0)
            while count < Self.mostOfAWord, let hit = before.offset(of: word, from: start) {
                // The error's own line and the lines just before it: the function, the file that is being compiled.
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

    /// The start of the line at `place`, if it is near.
    private static func lineStart(before place: Int, in bytes: UnsafeRawBufferPointer, atMost count: Int) -> Int {
        var index = place
        while index > 0, place - index < count, bytes[index - 1] != 0x0A { index -= 1 }
        return index
    }
}
