import Foundation
import TestBasics
import Testing

@testable import TerminalText

@Suite struct TerminalTextTests {
    private func clean(_ text: String, colours: Bool = true, limit: Int? = nil) -> String {
        TerminalText.clean(text.utf8, colours: colours, lineLimit: limit)
    }

    @Test(arguments: [
        ("plain\ttext\n", "plain\ttext\n"),
        ("no line feed", "no line feed"),
        ("", ""),
        ("\n\n", "\n\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        // Every other sequence goes.
        ("a\u{1B}[2J\u{1B}[1;1Hb", "ab"),
        ("a\u{1B}]0;title\u{07}b", "ab"),
        ("a\u{1B}]8;;https://x.example\u{1B}\\link\u{1B}]8;;\u{1B}\\b", "alinkb"),
        ("a\u{1B}P1$r0m\u{1B}\\b", "ab"),
        ("a\u{1B}_apc\u{1B}\\b", "ab"),
        ("a\u{1B}(Bb\u{1B}7c", "abc"),
        ("a\u{1B}[>4;2mb", "ab"),
        // A sequence that doesn't end takes nothing beyond its line.
        ("a\u{1B}]0;title\nb", "a\nb"),
        ("a\u{1B}[12\nb", "a\nb"),
        ("a\u{1B}", "a"),
        ("a\u{1B}\u{01}b", "a␛␁b"),
        // Control characters are seen; a bell is nothing to see.
        ("a\0b\u{08}c\u{07}d\u{7F}", "a␀b␈cd␡"),
        ("a\u{9B}31mb", "a<U+009B>31mb"),
        // What reorders or hides text is seen.
        ("a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}", "a<U+202E>b<U+2066>c<U+200B>d<U+FEFF>"),
        ("\u{E0041}", "<U+E0041>"),
        // Scripts and emoji that need joiners keep them.
        ("می\u{200C}خواهم", "می\u{200C}خواهم"),
        ("👩\u{200D}💻", "👩\u{200D}💻"),
        ("⚠\u{FE0F}", "⚠\u{FE0F}"),
        ("größe 日本語", "größe 日本語"),
    ])
    func untrustedText(_ raw: String, _ expected: String) {
        #expect(clean(raw) == expected)
    }

    @Test(arguments: [
        ("\u{1B}[31mred\u{1B}[0m", "\u{1B}[0;31mred\u{1B}[0m"),
        ("\u{1B}[1;38;5;208;4mx", "\u{1B}[0;1;4;38;5;208mx\u{1B}[0m"),
        ("\u{1B}[38:2::1:2:3mx\u{1B}[mz", "\u{1B}[0;38;2;1;2;3mx\u{1B}[0mz"),
        ("\u{1B}[48;2;1;2;3mx", "\u{1B}[0;48;2;1;2;3mx\u{1B}[0m"),
        ("\u{1B}[4:3mx\u{1B}[4:0my", "\u{1B}[0;4mx\u{1B}[0my"),
        // Concealed and blinking text is shown like any other.
        ("\u{1B}[8mx\u{1B}[5my", "xy"),
        // A style that nothing is written in is not repeated: no growth out of nothing.
        ("\u{1B}[31m\u{1B}[32m\u{1B}[33m\u{1B}[0mx", "x"),
        // Each line stands for itself.
        ("\u{1B}[31ma\nb\u{1B}[0m\nc", "\u{1B}[0;31ma\u{1B}[0m\n\u{1B}[0;31mb\u{1B}[0m\nc"),
        ("\u{1B}[38;5;999mx\u{1B}[38mz\u{1B}[99999999999999999999mw", "xzw"),
    ])
    func colours(_ raw: String, _ expected: String) {
        #expect(clean(raw) == expected)
        #expect(!clean(raw, colours: false).contains("\u{1B}"))
    }

    @Test(arguments: [
        ("10%\r50%\r100%\n", "100%\n"),
        ("10%\r50%\r\r\n", "50%\n"),
        ("\u{1B}[32mold\r\u{1B}[0mnew", "new"),
        ("old\u{1B}[2K\u{1B}[1Gnew", "new"),
        ("\u{1B}[31mred\rstill red", "\u{1B}[0;31mstill red\u{1B}[0m"),
    ])
    func progressLines(_ raw: String, _ expected: String) {
        #expect(clean(raw) == expected)
    }

    @Test func `long lines are cut`() {
        #expect(clean("abcdef\nab\n", limit: 4) == "abcd … 2 more characters\nab\n")
        #expect(clean("日本語日本語", limit: 4) == "日本語日 … 2 more characters")
        #expect(clean("abcdef\rab", limit: 4) == "ab")
    }

    @Test func `invalid UTF-8 is replaced`() {
        let bytes: [UInt8] = [0x61, 0xFF, 0xC3, 0x62, 0xE2, 0x80, 0x0A, 0xED, 0xA0, 0x80, 0xF0, 0x9F, 0x98]
        let expected = "a\u{FFFD}\u{FFFD}b\u{FFFD}\n\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"
        #expect(TerminalText.clean(bytes, colours: true) == expected)
        // As the standard library repairs it.
        #expect(TerminalText.clean(bytes, colours: true) == String(decoding: bytes, as: UTF8.self))
    }

    @Test(arguments: [
        ("feature/ä", "feature/ä"),
        ("a\nb\u{1B}[31m\0", "a␊b␛[31m␀"),
        ("x\u{202E}y\u{200D}z\u{85}", "x<U+202E>y<U+200D>z<U+0085>"),
    ])
    func names(_ raw: String, _ expected: String) {
        #expect(TerminalText.name(raw) == expected)
    }

    @Test func `long names are cut`() {
        #expect(TerminalText.name("abcdef", limit: 3) == "abc…")
        #expect(TerminalText.name("abc", limit: 3) == "abc")
    }

    /// Random bytes in which the characters that matter to a terminal are frequent.
    static func noise(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        let pieces: [[UInt8]] = [
            [0x1B], Array("[".utf8), Array("]0;".utf8), Array("31m".utf8), Array("38;2;".utf8), Array(";".utf8), [0x0A],
            [0x0D], [0x07], [0x9B], [0xE2, 0x80, 0xAE], [0xC2, 0x9B], Array("<script>\"'&".utf8), Array("K".utf8),
            Array("\\".utf8), Array("P".utf8), Array("😀日".utf8), [0],
        ]
        var bytes: [UInt8] = []
        while bytes.count < count {
            if random.next() % 3 == 0 {
                bytes.append(UInt8(truncatingIfNeeded: random.next()))
            } else {
                bytes += pieces[Int(random.next() % UInt64(pieces.count))]
            }
        }
        return bytes
    }

    @Test(arguments: 0..<200)
    func `random bytes give safe text`(seed: Int) {
        let bytes = Self.noise(2_000, seed: UInt64(seed))
        let text = TerminalText.clean(bytes, colours: true)
        // Without our own colours nothing is left that a terminal obeys.
        let bare = text.replacing(/\u{1B}\[[0-9;]*m/.matchingSemantics(.unicodeScalar), with: "")
        for scalar in bare.unicodeScalars {
            let value = scalar.value
            #expect(value == 9 || value == 10 || (value >= 0x20 && value != 0x7F && !(0x80...0x9F).contains(value)))
            #expect(!(0x202A...0x202E).contains(value) && !(0x2066...0x2069).contains(value))
        }
        #expect(bare == TerminalText.clean(bytes, colours: false))
        #expect(text.utf8.count { $0 == 10 } == bytes.count { $0 == 10 })
        // In pieces it is the same.
        var stream = TerminalText(colours: true)
        var joined = ""
        var rest = bytes[...]
        var size = seed % 7 + 1
        while !rest.isEmpty {
            joined += stream.feed(rest.prefix(size))
            rest = rest.dropFirst(size)
            size = size % 13 + 1
        }
        joined += stream.finish()
        #expect(joined == text)
    }

    @Test func `untrusted text in a message is visible, and its lines are indented`() {
        let message = "change agent/\u{9b}31m\u{202e}x\r\n12:00:00 forged"
        let shown = TerminalText.lines(message)
        #expect(shown == "change agent/<U+009B>31m<U+202E>x␍\n  12:00:00 forged")
        #expect(TerminalText.lines(shown) != "", "shown twice it is no other")
    }

    @Test func `JSON escapes characters that act on a terminal`() throws {
        let texts = ["a\u{9b}31m", "\u{202e}b\u{2066}", "\u{7f}\u{200b}\u{feff}\u{61c}", "é😀ü", "\u{1b}[0m"]
        let json = VisibleJSON.text(try JSONEncoder().encode(texts))
        #expect(json.contains("\\u009b31m") && json.contains("\\u202eb") && json.contains("é😀"))
        #expect(json.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        #expect(try JSONDecoder().decode([String].self, from: Data(json.utf8)) == texts, "the value is the same")
    }

    @Test func `an endless line is not held back forever`() {
        var stream = TerminalText(colours: false)
        var output = 0
        for _ in 0..<40 { output += stream.feed([UInt8](repeating: 0x61, count: 65_536)).utf8.count }
        #expect(output >= TerminalText.heldBackLimit)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["\u{1B}", "\u{1B}[1;", "\u{1B}]", "\r", "a\r", "\u{1B}[31m", "\u{200D}"])
    func `repeated sequences take linear time`(_ unit: String) {
        func time(_ count: Int) -> Duration {
            let bytes = Array(String(repeating: unit, count: count / unit.utf8.count).utf8)
            return ContinuousClock().measure { _ = TerminalText.clean(bytes, colours: true).utf8.count }
        }
        _ = time(10_000)
        let small = time(50_000)
        // Sixteen times the bytes: in quadratic time this would be 256 times as long.
        #expect(time(800_000) < small * 90 + .milliseconds(200))
    }
}
