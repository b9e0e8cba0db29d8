import Testing

@testable import MCP

struct TextBudgetTests {
    @Test(arguments: [0, 1, 10, 60, 100, 150, 400, 5_000])
    func `a cut text fits and ends with a whole line`(bytes: Int) {
        let text = (1...50).map { "line \($0) with é and 🙂\n" }.joined()
        let budget = TextBudget(bytes: bytes)
        for cut in [budget.head(of: text, rest: "ask for more."), budget.tail(of: text, rest: "ask for more.")] {
            #expect(cut.text.utf8.count <= bytes)
            #expect(!cut.text.contains("\u{FFFD}"))
            #expect(cut.isCut == (text.utf8.count > bytes))
            for line in cut.text.split(separator: "\n") where line.hasPrefix("line ") {
                #expect(text.contains("\n\(line)\n") || text.hasPrefix("\(line)\n"), "no half line")
            }
        }
    }

    @Test func `a list has as many items as fit`() {
        let items = (0..<100).map { JSON.string(String(repeating: "x", count: $0)) }
        let kept = TextBudget(bytes: 500).fitting(items, beside: 100)
        #expect(!kept.isEmpty && kept.count < 100 && JSON.array(kept).bytes.count <= 400)
        #expect(TextBudget(bytes: 10).fitting(items, beside: 100).isEmpty)
    }

    @Test func `lines are assembled from pieces`() {
        var splitter = LineSplitter(limit: 10)
        #expect(splitter.take(Array("ab".utf8)[...]) == [])
        #expect(splitter.take(Array("c\n\n\r\nd\n".utf8)[...]) == [.line(Array("abc".utf8)), .line(Array("d".utf8))])
        #expect(splitter.take(Array("0123456789".utf8)[...]) == [])
        #expect(splitter.take(Array("x".utf8)[...]) == [])
        #expect(splitter.take(Array("y\nok\n".utf8)[...]) == [.tooLong, .line(Array("ok".utf8))])
    }
}
