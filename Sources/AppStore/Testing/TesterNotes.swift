/// A release's notes as the plain text that TestFlight shows.
enum TesterNotes {
    /// The most characters that Apple takes.
    static let most = 4_000

    /// Markdown without its marks, at most ``most`` characters.
    static func plain(_ markdown: String) -> String {
        var lines: [String] = []
        for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
            var text = String(line)
            if text.hasSuffix("\r") { text.removeLast() }
            if text.hasPrefix("```") { continue }
            text = text.replacing(/^#{1,6}\s+/, with: "").replacing(/^(\s*)[*+-]\s+/) { "\($0.1)• " }
            text = text.replacing(/!?\[([^\]\[]*)\]\(([^)\s]*)[^)]*\)/) { "\($0.1)" }
            text = text.replacing(/\*\*([^*]+)\*\*/) { "\($0.1)" }.replacing(/`([^`]+)`/) { "\($0.1)" }
            text = text.replacing(/<!--.*?-->/, with: "")
            // A control character would make the whole request fail.
            lines.append(
                String(
                    text.unicodeScalars.filter { $0 == "\t" || $0.properties.generalCategory != .control }.map(
                        Character.init)))
        }
        let whole = lines.joined(separator: "\n").replacing(/\n{3,}/, with: "\n\n").trimmed
        guard whole.count > most else { return whole }
        let cut = whole.prefix(most - 2)
        let end = cut.lastIndex(of: "\n") ?? cut.endIndex
        return String(cut[..<end]) + "\n…"
    }
}

extension String {
    fileprivate var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
