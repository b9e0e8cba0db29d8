import Testing

@testable import TerminalText

@Suite struct TerminalTextHTMLTests {
    private func html(_ text: String) -> String { ANSIHTML.render(text.utf8) }

    @Test(arguments: [
        ("a<b>&\"'\n", "a&lt;b&gt;&amp;&quot;&#39;\n"),
        ("\u{1B}[31mred\u{1B}[0m!", "<span class=\"tf1\">red</span>!"),
        ("\u{1B}[1;3;4;9mx", "<span class=\"tb ti tu ts\">x</span>"),
        ("\u{1B}[38;5;208mx", "<span class=\"tf208\">x</span>"),
        ("\u{1B}[38;2;255;135;0mx", "<span class=\"tf208\">x</span>"),
        ("\u{1B}[31ma\nb", "<span class=\"tf1\">a</span>\n<span class=\"tf1\">b</span>"),
        ("\u{1B}[31;\"><script>m", "&gt;&lt;script&gt;m"),
        ("\u{1B}]8;;javascript:alert(1)\u{1B}\\link", "link"),
        ("1%\r2%", "2%"),
    ])
    func rendering(_ raw: String, _ expected: String) {
        #expect(html(raw) == expected)
    }

    @Test(arguments: ["\u{1B}[30;40mx", "\u{1B}[31;41mx", "\u{1B}[37;47mx", "\u{1B}[7;30mx", "\u{1B}[8mx"])
    func `text is readable on every background colour`(_ raw: String) {
        var renderer = ANSIHTML()
        let line = renderer.line(raw.utf8)
        #expect(line.contains("tx0") || line.contains("tx1") || line == "x")
    }

    @Test func `a style continues over line ends`() {
        var renderer = ANSIHTML()
        #expect(renderer.line("\u{1B}[32ma".utf8) == "<span class=\"tf2\">a</span>")
        #expect(renderer.line("b\u{1B}[m".utf8) == "<span class=\"tf2\">b</span>")
        #expect(renderer.line("c".utf8) == "c")
        #expect(renderer.stylesheet.contains(".tf2{color:#3fb950}"))
    }

    @Test(arguments: 0..<200)
    func `random bytes give no HTML other than our spans`(seed: Int) {
        let bytes = TerminalTextTests.noise(2_000, seed: UInt64(seed) + 1_000)
        var renderer = ANSIHTML()
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            let html = renderer.line(line)
            let ours = /<span class="t[a-z0-9]+( t[a-z0-9]+)*">|<\/span>/.matchingSemantics(.unicodeScalar)
            let text = html.replacing(ours, with: "")
            // By scalars, as a browser reads: an accent does not make a bracket harmless.
            #expect(!text.unicodeScalars.contains { "<>\"'".unicodeScalars.contains($0) })
            let entity = /&(?!lt;|gt;|amp;|quot;|#39;)/.matchingSemantics(.unicodeScalar)
            #expect(text.matches(of: entity).isEmpty)
            #expect(html.matches(of: ours).count.isMultiple(of: 2))
        }
        #expect(!renderer.stylesheet.contains("<"))
    }

    @Test func escapedText() {
        #expect(ANSIHTML.escape("<a href='x'>\u{1B}[31m\n\u{202E}") == "&lt;a href=&#39;x&#39;&gt;\n&lt;U+202E&gt;")
    }
}
