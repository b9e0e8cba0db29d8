import TerminalText

/// Words in the lines of a log.
enum LogWords {
    private static let words = ["error", "fail", "fatal", "panic", "assert", "exception", "traceback"].map {
        Array($0.utf8)
    }

    /// Whether a line may say that something is wrong, so that it is not folded away.
    static func matter(_ line: ArraySlice<UInt8>) -> Bool {
        guard line.count >= 4 else { return false }
        return line.prefix(2_000).withUnsafeBufferPointer { bytes in
            for place in bytes.indices {
                let letter = bytes[place] | 0x20
                // The first letters of the words.
                switch letter {
                case 0x61, 0x65, 0x66, 0x70, 0x74: break
                default: continue
                }
                let isWord = words.contains { word in
                    place + word.count <= bytes.count
                        && word.indices.allSatisfy { bytes[place + $0] | 0x20 == word[$0] }
                }
                if isWord { return true }
            }
            return false
        }
    }

    /// A line as text without colours.
    static func plain(_ line: [UInt8]) -> String { TerminalText.clean(line, colours: false, lineLimit: 400) }
}
