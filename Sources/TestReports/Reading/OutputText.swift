import ForeignText

/// Finds the failure in a test's own output, for formats without a message, such as CTest's.
enum OutputText {
    /// The text after `place` in the output; otherwise the last line.
    static func message(in output: String, at place: SourceLocator.Location?) -> String? {
        let lines = output.split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) && !isHeading($0) }
        guard let place, let index = lines.firstIndex(where: { $0.byteRange(of: "\(place.file):\(place.line)") != nil })
        else { return lines.last.map { String($0).trimmed.cut(to: 500) } }
        guard let mark = lines[index].byteRange(of: "\(place.file):\(place.line)") else { return nil }
        // The column, then the text.
        let words = lines[index][mark.upperBound...].drop { $0.isNumber || $0 == ":" || $0 == " " || $0 == ")" }
        guard ["", "failure", "error", "failed", "fatal error"].contains(words.lowercased()) else {
            return String(words).trimmed.cut(to: 2_000)
        }
        // GoogleTest, Catch2 and others print it below.
        let below = lines[(index + 1)...].prefix(6).joined(separator: "\n")
        return below.isEmpty ? String(lines[index]).trimmed : below.cut(to: 2_000)
    }

    private static func isHeading(_ line: Substring) -> Bool { line == "system-out:" || line == "system-err:" }
}
