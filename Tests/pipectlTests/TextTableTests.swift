import Testing

@testable import Client

/// Tables of the terminal.
@Suite struct TextTableTests {
    @Test func `columns are as wide as their widest cell`() {
        let text = TextTable.text(["run", "what"], [["1", "äöü"], ["12345", "b"]])
        #expect(text == "run    what\n1      äöü\n12345  b\n")
    }

    @Test func `no spaces follow the last cell with content`() {
        let rows = [["1", "", ""], ["", "", ""], ["2", "x  ", ""], ["3", "", "y"]]
        let text = TextTable.text(["a", "b", "c"], rows)
        #expect(text == "a  b    c\n1\n\n2  x\n3       y\n")
    }

    /// A test's name, a branch or a message may contain anything.
    @Test func `no cell reaches the terminal unescaped`() {
        let text = TextTable.text(["name", "end"], [["\u{1b}[31m\n\u{202e}x", String(repeating: "y", count: 300)]])
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 3, "the header, the row and nothing")
        #expect(!text.contains("\u{1b}") && !text.unicodeScalars.contains("\u{202e}"))
        #expect(lines[1].hasPrefix("␛[31m␊<U+202E>x"))
        #expect(lines[1].hasSuffix("y…") && lines[1].count < 230)
    }

    @Test func `a style ends with its cell`() {
        let text = TextTable.text(["id", "verdict", "x"], [["1", "ok", "y"]]) { _, column in column == 1 ? "32" : nil }
        #expect(text == "id  verdict  x\n1   \u{1b}[32mok     \u{1b}[0m  y\n")
    }

    @Test func `one column is shortened to the terminal`() {
        func text(_ width: Int) -> String {
            TextTable.text(
                ["id", "what", "when"], [["1", "a long title", "now"]], limit: .init(column: 1, least: 4, width: width))
        }
        #expect(text(80) == "id  what          when\n1   a long title  now\n")
        #expect(text(18) == "id  what      when\n1   a long …  now\n")
        #expect(text(18).split(separator: "\n").allSatisfy { $0.count <= 18 })
        #expect(text(5) == "id  what  when\n1   a l…  now\n")
    }
}
