import TerminalText

/// Names and titles that somebody else chose, in a row for people.
enum TerminalNames {
    static func clean(_ text: String) -> String { TerminalText.name(text, limit: 300) }

    static func row(_ cells: [String]) -> String { cells.map(clean).joined(separator: "  ") }
}
