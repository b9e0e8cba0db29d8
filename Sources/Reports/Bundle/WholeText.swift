import Results
import TerminalText

/// Cuts untrusted text where a reader would: after a line, otherwise after a sentence, otherwise after a word, and
/// never inside one.
enum WholeText {
    /// The first lines of `text` that fit, safe to show; nil if none remains.
    ///
    /// - Parameters:
    ///   - lines: The most lines.
    ///   - bytes: The most bytes of UTF-8, including notes about what is missing.
    static func head(_ text: String, lines: Int, bytes: Int) -> String? {
        let all = cleaned(text)
        var kept: [String] = []
        var size = 0
        for (index, line) in all.enumerated() {
            let isLast = index == all.count - 1
            let room = bytes - size - (isLast ? 0 : noteBytes)
            guard kept.count < lines else { break }
            if line.utf8.count + 1 > room {
                // If the first line does not fit, a part of it is better than nothing.
                if kept.isEmpty, let part = part(of: line, bytes: room - 1) { kept.append(part) }
                break
            }
            kept.append(line)
            size += line.utf8.count + 1
        }
        guard !kept.isEmpty else { return nil }
        if kept.count < all.count { kept.append(note(all.count - kept.count)) }
        return kept.joined(separator: "\n")
    }

    /// The last lines of `text` that fit.
    static func tail(_ text: String, lines: Int, bytes: Int) -> String? {
        let all = cleaned(text)
        var kept: [String] = []
        var size = noteBytes
        for line in all.reversed() {
            guard kept.count < lines, size + line.utf8.count + 1 <= bytes else { break }
            kept.append(line)
            size += line.utf8.count + 1
        }
        guard !kept.isEmpty else { return head(all.last ?? "", lines: 1, bytes: bytes) }
        if kept.count < all.count { kept.append(note(all.count - kept.count, "before")) }
        return kept.reversed().joined(separator: "\n")
    }

    private static let noteBytes = 40

    private static func note(_ count: Int, _ place: String = "more") -> String {
        place == "more" ? "… \(Figures.count(count, "more line"))" : "… \(Figures.count(count, "line")) before"
    }

    /// The lines without escape sequences, without blank lines at both ends, and with limited lengths.
    private static func cleaned(_ text: String) -> [String] {
        var lines = TerminalText.clean(text.utf8.prefix(256 << 10), colours: false)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .map { String($0).replacing("\t", with: "    ") }
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        while lines.first?.allSatisfy(\.isWhitespace) == true { lines.removeFirst() }
        return lines.map { $0.utf8.count <= lineBytes ? $0 : part(of: $0, bytes: lineBytes) ?? "" }
    }

    private static let lineBytes = 600

    /// The start of a line up to the end of a sentence or word, with a note of the whole length.
    static func part(of line: String, bytes: Int) -> String? {
        guard line.utf8.count > bytes else { return line }
        let note = " [… \(Figures.size(line.utf8.count)) in all]"
        let room = bytes - note.utf8.count
        guard room > 0 else { return nil }
        var (size, sentence, word, end) = (0, 0, 0, 0)
        var characters: [Character] = []
        for character in line {
            size += character.utf8.count
            guard size <= room else { break }
            if character.isWhitespace, let last = characters.last {
                word = characters.count
                if ".!?;".contains(last) { sentence = word }
            }
            characters.append(character)
            end = characters.count
        }
        // A sentence that ends early would waste most of the space.
        let cut = sentence * 2 >= end ? sentence : word > 0 ? word : end
        return cut == 0 ? nil : String(characters[..<cut]) + note
    }
}
