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
        return plain && !linked && !name.isEmpty && !beginsBlock(name) ? name : code(text, limit: limit)
    }

    /// Whether a line that begins so may be an item of a list, an underline of a heading, or code.
    private static func beginsBlock(_ line: String) -> Bool {
        let bytes = line.utf8
        let rest = bytes.drop { (0x30...0x39).contains($0) }
        let isNumbered =
            rest.count < bytes.count && (rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: ")"))
            && rest.dropFirst().first.map { $0 == UInt8(ascii: " ") } ?? true
        return isNumbered || " -=".utf8.contains { $0 == bytes.first } || bytes.last == UInt8(ascii: " ")
    }

    /// A code span, with a fence that is longer than any run of backticks inside.
    public static func code(_ text: String, limit: Int = 300) -> String {
        let name = bounded(TerminalText.name(text, limit: limit), bytes: 3 * limit)
        guard !name.isEmpty else { return "(empty)" }
        let fence = String(repeating: "`", count: longestFence(in: name) + 1)
        // Markdown strips one space on each side.
        let edges = [name.utf8.first, name.utf8.last]
        let padding = edges.contains(UInt8(ascii: "`")) || edges.contains(UInt8(ascii: " ")) ? " " : ""
        return fence + padding + name + padding + fence
    }

    /// Made visible, a character may become eight: those that are hidden must not make a text much longer than others.
    private static func bounded(_ name: String, bytes limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        var kept = ""
        for scalar in name.unicodeScalars {
            guard kept.utf8.count + 4 <= limit else { break }
            kept.unicodeScalars.append(scalar)
        }
        return kept + "…"
    }

    /// A code span in a table cell, where a `|` ends the cell even in code.
    static func cell(_ text: String) -> String {
        // Forges do not agree on what two backslashes before it mean.
        let parts = code(text).unicodeScalars.split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
        return parts.dropLast().map { $0.hasSuffix("\\") ? "\($0) " : $0 }.joined(separator: "\\|")
            + (parts.count > 1 ? "\\|" : "") + (parts.last ?? "")
    }

    /// The beginning of Markdown that this program wrote, of at most `limit` bytes.
    ///
    /// It ends with a whole line, and a block of code that is open there is closed: half a code span would be no code, and
    /// what it quotes would count.
    public static func cut(_ text: String, bytes limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        let note = "… (cut)"
        var lines: [Substring] = []
        var size = note.utf8.count
        // The line that would close the open block.
        var end: Substring?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let fence = line.prefix { $0 == " " || $0 == "`" }
            let ticks = fence.count { $0 == "`" }
            var next = end
            if let open = end {
                if fence.count == line.count, ticks >= open.count(where: { $0 == "`" }) { next = nil }
            } else if ticks > 2, fence.drop(while: { $0 == " " }).allSatisfy({ $0 == "`" }),
                !line.dropFirst(fence.count).contains("`")
            {
                next = fence
            }
            size += line.utf8.count + 1
            guard size + (next.map { $0.utf8.count + 1 } ?? 0) <= limit else { break }
            lines.append(line)
            end = next
        }
        return (lines + [end, Substring(note)].compactMap { $0 }).joined(separator: "\n")
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
        // GitLab looks for commands before it reads Markdown, and knows only fences of three.
        let isFenced = kept.contains { $0.contains("```") }
        let shown = kept.map { isFenced && $0.utf8.first == UInt8(ascii: "/") ? " \($0)" : String($0) }
        let missing = total - kept.count
        let note = missing > 0 ? "… \(Figures.count(missing, "more line"))" : nil
        let body = ((fromEnd ? [note] : []) + shown + (fromEnd ? [] : [note])).compactMap { $0 }
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
