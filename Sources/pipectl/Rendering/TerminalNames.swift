import TerminalText

/// Untrusted names and titles, made safe for a terminal and joined for people.
enum TerminalNames {
    static func clean(_ text: String) -> String { TerminalText.name(text, limit: 300) }

    static func row(_ cells: [String]) -> String { cells.map(clean).joined(separator: "  ") }
}
