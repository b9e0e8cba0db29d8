@testable import Reports
@testable import Results
import Foundation
import Pipeline
import Testing

@Suite struct HTMLReportTests {
    /// Every tag of the page, as a browser's tokenizer finds them. The page's own text contains no brackets.
    private func tags(_ html: String) -> [String] {
        let ours = /<(style|script)>.*?<\/(style|script)>/.dotMatchesNewlines().matchingSemantics(.unicodeScalar)
        return html.replacing(ours, with: "")
            .matches(of: /<[^>]*>/.matchingSemantics(.unicodeScalar)).map { String($0.output) }
    }

    @Test func `hostile text is inert`() throws {
        let html = Fixture.hostileDocument.render(.html)
        let attribute = /[a-z0-9-]+="[^"<>]*"/.matchingSemantics(.unicodeScalar)
        let names = Set(
            """
            !DOCTYPE html head meta title body a header div p span h1 h2 h3 nav ul ol li main section dl dt dd code time
            details summary b i pre svg text rect line input select option output label button br footer
            """.split(whereSeparator: \.isWhitespace).map(String.init))
        for tag in tags(html) {
            let name = tag.dropFirst().drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber || $0 == "!" }
            #expect(names.contains(String(name)), "\(tag)")
            // What is left when the quoted attributes are gone is the name and attributes without value.
            let rest = tag.replacing(attribute, with: "")
            #expect(!rest.contains("=") && !rest.contains("\"") && !rest.contains("'"), "\(tag)")
            #expect(!tag.contains(" on") && !tag.contains(" style=") && !tag.contains(" src="), "\(tag)")
            if let link = tag.firstMatch(of: /href="([^"]*)"/) { #expect(link.output.1.hasPrefix("#")) }
        }
        #expect(html.ranges(of: "<script").count == 1)
        #expect(!html.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" || $0 == "\0" })
        let policy = try #require(html.firstMatch(of: /Content-Security-Policy" content="([^"]*)"/))
        #expect(policy.output.1.hasPrefix("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-"))
    }

    @Test func `the page's policy allows exactly its script`() {
        let digest = SHA256.digest(Array(HTMLScript.source.utf8))
        #expect(HTMLScript.hash == "sha256-" + Data(digest).base64EncodedString())
        #expect(!HTMLScript.source.contains("</"))
        #expect(!HTMLScript.source.contains("innerHTML"))
    }

    @Test func `the page makes no requests`() {
        let html = Fixture.hostileDocument.render(.html)
        #expect(!HTMLStyle.sheet.contains("url(") && !HTMLStyle.sheet.contains("@import"))
        for name in ["<link", "<img", "<iframe", "<object", "<base", "http-equiv=\"refresh"] {
            #expect(!html.contains(name))
        }
    }

    @Test func `a long log is cut in the middle with a note`() {
        let lines = (1...10_000).map { "line \($0)\n" }.joined()
        let document = ReportDocument(report: Fixture.report()) { _ in
            ReportLog(bytes: Array(lines.utf8)) { offset in offset }
        }
        let html = document.render(.html, options: RenderOptions(logBytesPerAttempt: 10_000))
        #expect(html.contains(">line 1</div>"))
        #expect(html.contains("bytes left out here"))
        // Line numbers go on as in the whole log.
        #expect(html.contains("<a href=\"#s1a1-10000\">10000</a>line 10000</div>"))
        #expect(!html.contains(">line 5000<"))
    }

    @Test func `dropped output is marked`() {
        var report = Fixture.report()
        report.steps[0].attempts[0].log = LogRecord(file: "1.log", bytes: 2_000_000, droppedBytes: 1_234_567)
        let note = "[pipectl: 1,234,567 bytes dropped here; the rest is kept]"
        let log = "head\n\n\(note)\ntail\n[pipectl: 1 bytes dropped here"
        let html = ReportDocument(report: report) { _ in ReportLog(bytes: Array(log.utf8)) }.render(.html)
        #expect(html.contains("<div class=\"gap\">[pipectl: 1,234,567 bytes dropped here"))
        #expect(!html.contains("<div class=\"gap\">[pipectl: 1 bytes"))
    }

    @Test func `logs of failed steps take precedence`() {
        let steps = (0..<10).map { number in
            Fixture.step("s\(number)", from: 0, to: 1, number == 9 ? .failed : .passed, log: "\(number).log")
        }
        let document = ReportDocument(report: Fixture.report(steps: steps)) { file in
            ReportLog(bytes: Array("log \(file)\n".utf8))
        }
        let html = document.render(.html, options: RenderOptions(logBytes: 20))
        #expect(html.contains(">1</a>log 9.log</div>"))
        #expect(!html.contains(">1</a>log 5.log</div>"))
        #expect(html.contains("This log is not part of the page"))
    }

    @Test(arguments: [0, 1, 500])
    func `a timeline has a bar for each step`(steps count: Int) {
        let steps = (0..<count).map {
            Fixture.step("step \($0)", from: Double($0), to: Double($0) + 2, needs: $0 > 0 ? ["step \($0 - 1)"] : [])
        }
        let html = ReportDocument(report: Fixture.report(.passed, steps: steps)).render(.html)
        #expect(html.ranges(of: "<rect class=\"c-passed\" x=").count == count)
        if count == 500 { #expect(html.contains("at most 2 at the same time")) }
    }

    @Test func `times out of order do not break the timeline`() {
        let steps = [Fixture.step("a", from: 50, to: 10), Fixture.step("b", from: -1e15, to: 1e15)]
        let html = ReportDocument(report: Fixture.report(.passed, steps: steps)).render(.html)
        #expect(!html.contains("nan") && html.contains("</html>"))
    }

    @Test(.timeLimit(.minutes(1)))
    func `a page with twenty thousand tests stays usable`() {
        let tests = (0..<20_000).map { index in
            TestResult(suite: "Suite \(index % 50)", name: "test\(index)", status: index % 500 == 0 ? .failed : .passed)
        }
        let html = ReportDocument(report: Fixture.report(), tests: tests).render(.html)
        #expect(html.ranges(of: "<li class=\"t ").count == 20_000)
        #expect(html.utf8.count < 4_000_000)
    }
}

/// SHA-256 (FIPS 180-4) for the one digest above, because the test target needs no library otherwise.
private enum SHA256 {
    static func digest(_ message: [UInt8]) -> [UInt8] {
        let primes = (2...400).filter { number in (2..<number).allSatisfy { number % $0 != 0 } }
        func fraction(_ value: Double) -> UInt32 { UInt32((value - value.rounded(.down)) * 4_294_967_296) }
        let constants = primes.prefix(64).map { fraction(cbrt(Double($0))) }
        var state = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: (message.count * 8) >> (56 - 8 * $0)) }
        func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 { value >> count | value << (32 - count) }
        for block in stride(from: 0, to: bytes.count, by: 64) {
            var words = (0..<16).map { index in
                (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[block + index * 4 + $1]) }
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = rotate(early, 7) ^ rotate(early, 18) ^ early >> 3
                let second = rotate(late, 17) ^ rotate(late, 19) ^ late >> 10
                words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            for index in 0..<64 {
                let mix = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)
                let first = h &+ mix &+ ((e & f) ^ (~e & g)) &+ constants[index] &+ words[index]
                let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ ((a & b) ^ (a & c) ^ (b & c))
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
            }
            for (index, value) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= value }
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }
}
