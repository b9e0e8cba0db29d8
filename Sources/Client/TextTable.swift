import TerminalText

/// Rows of cells in aligned columns.
package enum TextTable {
    /// A column that is cut so that rows fit into the terminal.
    package struct Limit {
        package var column: Int
        /// The number of characters that it keeps in any case.
        package var least: Int
        /// The terminal's width in columns.
        package var width: Int

        package init(column: Int, least: Int, width: Int) {
            (self.column, self.least, self.width) = (column, least, width)
        }
    }

    /// - Parameters:
    ///   - limit: The column that is cut if rows are too long; nil for none.
    ///   - rows: Each has as many cells as the header. Cells are untrusted: the code under test may have written them.
    ///   - style: The number of a terminal style (SGR) for a cell, by row and column; nil for plain text.
    package static func text(
        _ header: [String], _ rows: [[String]], limit: Limit? = nil, style: (Int, Int) -> String? = { _, _ in nil }
    ) -> String {
        var rows = rows.map { row in row.map { TerminalText.name($0) } }
        var widths = header.map(\.count)
        for row in rows { for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) } }
        if let limit {
            let over = widths.reduce(0, +) + 2 * (widths.count - 1) - limit.width
            let room = max(widths[limit.column] - max(over, 0), limit.least)
            for index in rows.indices where rows[index][limit.column].count > room {
                rows[index][limit.column] = String(rows[index][limit.column].prefix(room - 1)) + "…"
            }
            widths[limit.column] = min(widths[limit.column], room)
        }
        var text = line(header, widths) { _ in nil }
        for (number, row) in rows.enumerated() { text += line(row, widths) { style(number, $0) } }
        return text
    }

    private static func line(_ cells: [String], _ widths: [Int], style: (Int) -> String?) -> String {
        // No padding after the last cell with content.
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
        // Spaces at the end of a line are invisible.
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }
}
