import Engine

/// Rows of cells in aligned columns.
enum TextTable {
    /// - Parameters:
    ///   - rows: As many cells in each as the header has. Every cell may have been written by the code under test.
    ///   - style: The number of a terminal style (SGR) for a cell, by row and column; nil for the plain one.
    static func text(_ header: [String], _ rows: [[String]], style: (Int, Int) -> String? = { _, _ in nil }) -> String {
        let rows = rows.map { row in row.map { TerminalText.name($0) } }
        var widths = header.map(\.count)
        for row in rows { for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) } }
        var text = line(header, widths) { _ in nil }
        for (number, row) in rows.enumerated() { text += line(row, widths) { style(number, $0) } }
        return text
    }

    private static func line(_ cells: [String], _ widths: [Int], style: (Int) -> String?) -> String {
        // Nothing is padded behind the last cell that says something.
        guard let last = cells.lastIndex(where: { !$0.isEmpty }) else { return "\n" }
        var line = ""
        for (column, cell) in cells[...last].enumerated() {
            if column > 0 { line += "  " }
            let padding = column == last ? "" : String(repeating: " ", count: widths[column] - cell.count)
            if let code = style(column) {
                line += "\u{1b}[\(code)m\(cell)\(padding)\u{1b}[0m"
            } else {
                line += cell + padding
            }
        }
        // What a cell ends with can't be seen.
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }
}
