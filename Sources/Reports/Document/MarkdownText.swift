import Results
import TerminalText

/// Makes untrusted text safe for Markdown as forges read it (CommonMark with GitHub's extensions).
public enum MarkdownText {
    /// A sentence: unchanged if nothing in it has a meaning in Markdown or at a forge, otherwise as code.
    ///
    /// Escaping with backslashes would not be enough: forges turn mentions, issue numbers and addresses into links
    /// without any markup.
    public static func inline(_ text: String, limit: Int = 300) -> String {
        // A tab looks like a space, and few fonts have its picture.
        let name = TerminalText.name(text.replacing("\t", with: " "), limit: limit)
        let harmless = " .,;:()'\"%/=…-".unicodeScalars
        let plain = name.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil || harmless.contains(scalar)
        }
        // Compares bytes, not characters: with a combining accent, a slash is another character to Swift, but not to a
        // forge.
        let bytes = Array(name.lowercased().utf8)
        // "gh-12" is an issue's number at GitHub; a line that begins with a slash is a command at GitLab.
        let isLinked = ["://", "www.", "--", "gh-"].contains { bytes.contains($0.utf8) }
        let linked = isLinked || bytes.first == UInt8(ascii: "/")
        return plain && !linked && !name.isEmpty ? name : code(text, limit: limit)
    }

    /// A code span, with a fence that is longer than any run of backticks inside.
    public static func code(_ text: String, limit: Int = 300) -> String {
        let name = TerminalText.name(text, limit: limit)
        guard !name.isEmpty else { return "(empty)" }
        let fence = String(repeating: "`", count: longestFence(in: name) + 1)
        // Markdown strips one space on each side.
        let edges = [name.utf8.first, name.utf8.last]
        let padding = edges.contains(UInt8(ascii: "`")) || edges.contains(UInt8(ascii: " ")) ? " " : ""
        return fence + padding + name + padding + fence
    }

    /// A code span in a table cell, where a `|` ends the cell even in code.
    static func cell(_ text: String) -> String {
        code(text).unicodeScalars.split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
            .joined(separator: "\\|")
    }

    /// A code block with a fence that is longer than any inside: at most `lines` lines and `bytes` bytes, from the
    /// start or, with `fromEnd`, from the end.
    static func block(_ text: some Sequence<UInt8>, lines limit: Int, bytes: Int, fromEnd: Bool = false) -> String {
        var lines = TerminalText.clean(text, colours: false, lineLimit: 300)
            .split(separator: "\n", omittingEmptySubsequences: false)
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        guard !lines.isEmpty else { return "" }
        let total = lines.count
        var kept: [Substring] = []
        var size = 0
        for line in fromEnd ? Array(lines.reversed()) : lines {
            guard kept.count < limit, size + line.utf8.count < bytes else { break }
            kept.append(line)
            size += line.utf8.count + 1
        }
        if fromEnd { kept.reverse() }
        let missing = total - kept.count
        let note = missing > 0 ? "… \(Figures.count(missing, "more line"))" : nil
        let body = ((fromEnd ? [note] : []) + kept.map(String.init) + (fromEnd ? [] : [note])).compactMap { $0 }
            .joined(separator: "\n")
        let fence = String(repeating: "`", count: max(3, longestFence(in: body) + 1))
        return "\(fence)text\n\(body)\n\(fence)\n"
    }

    private static func longestFence(in text: String) -> Int {
        var longest = 0
        var run = 0
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }
}
