extension Finding {
    /// No real file has lines or columns beyond this. Smaller numbers can't overflow in calculations.
    private static let mostLines = 1_000_000_000

    /// The finding with its numbers and texts limited, for findings from files or output of the code under test: no
    /// impossible line numbers, and texts of at most a few KiB.
    package var bounded: Finding {
        func number(_ value: Int?) -> Int? { value.flatMap { (1...Self.mostLines).contains($0) ? $0 : nil } }
        func cut(_ text: String, _ bytes: Int) -> String {
            text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self) + "…"
        }
        var finding = self
        finding.rule = cut(rule, 200)
        finding.message = cut(message, 8_000)
        finding.file = file.map { cut($0, 4_096) }
        (finding.line, finding.column) = (number(line), number(column))
        finding.suggestion = suggestion.map { cut($0, 1_000) }
        finding.excerpt = excerpt.map { cut($0, 4_000) }
        return finding
    }
}
