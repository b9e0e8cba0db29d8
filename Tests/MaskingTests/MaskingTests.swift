import Foundation
import TestBasics
import Testing

@testable import Masking

/// The output of a stream with secrets in it, however the input is split.
struct MaskingTests {
    /// The output of a stream whose input is split into pieces of `sizes`; the last size is repeated.
    private func masked(_ text: [UInt8], _ masker: Masker, _ size: () -> Int) -> (text: [UInt8], count: Int) {
        var stream = MaskingStream(masker)
        var output: [UInt8] = []
        var position = 0
        while position < text.count {
            let end = min(position + max(size(), 1), text.count)
            // A buffer of its own: what lies beside it must not matter.
            Array(text[position..<end]).withUnsafeBytes { piece in stream.feed(piece) { output += $0 } }
            position = end
        }
        stream.flush { output += $0 }
        return (output, stream.count)
    }

    /// Where forms are, found by comparing each form at each position. Overlapping ones count as one.
    private func places(of forms: Set<[UInt8]>, in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        let text = text.map(\.caseFolded)
        for form in Set(forms.map { $0.map(\.caseFolded) }) {
            var position = 0
            while let start = text[position...].firstIndex(of: form[0]) {
                let match = start..<start + form.count
                guard text[start...].starts(with: form) else {
                    position = start + 1
                    continue
                }
                found.append(match)
                position = match.lowerBound + 1
            }
        }
        var merged: [Range<Int>] = []
        for range in found.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = merged.last, last.upperBound > range.lowerBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    private static let alphabets: [[UInt8]] = [
        Array("ab".utf8), Array("abc\n/\"\\".utf8), Array(0...255), [0, 0xff, 0x0a, 0x0d],
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_\n".utf8),
    ]

    @Test(.timeLimit(.minutes(2)), arguments: 0..<150)
    func `every form is replaced and nothing else changes`(seed: Int) throws {
        var random = SplitMix64(seed: seed)
        let alphabet = try #require(MaskingTests.alphabets.randomElement(using: &random))
        func noise(_ sizes: ClosedRange<Int>) -> [UInt8] {
            (0..<Int.random(in: sizes, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        }
        var values = (0..<Int.random(in: 1...3, using: &random)).map { _ in noise(6...24) }
        // One that is another's start, and one that overlaps it.
        values.append(values[0] + noise(1...5))
        values.append(Array(values[0].suffix(4)) + noise(4...8))
        let secrets = values.enumerated().map { Secret(name: "S\($0.offset)", bytes: $0.element) }
        let forms = values.reduce(into: Set<[UInt8]>()) {
            let forms = SecretForms(of: $1)
            $0.formUnion(forms.all)
            $0.formUnion(forms.twice)
        }
        guard !forms.isEmpty else { return }
        let masker = try #require(Masker(secrets))
        let list = forms.sorted { $0.lexicographicallyPrecedes($1) }

        var text: [UInt8] = []
        for _ in 0..<Int.random(in: 1...15, using: &random) {
            let form = try #require(list.randomElement(using: &random))
            switch Int.random(in: 0...3, using: &random) {
            case 0: text += noise(0...30)
            case 1: text += form.prefix(Int.random(in: 0...form.count, using: &random))
            case 2: text += form.suffix(Int.random(in: 0...form.count, using: &random))
            default: text += form
            }
        }
        let expected = places(of: forms, in: text)
        let sizes: [() -> Int] = [
            { text.count }, { 1 }, { Int.random(in: 1...7, using: &random) },
            { Int.random(in: 1...90, using: &random) },
        ]
        for (way, size) in sizes.enumerated() {
            let (output, count) = masked(text, masker, size)
            #expect(count == expected.count, "seed \(seed), way \(way)")
            // What is between the places comes through byte by byte, each place is one mark, and nothing else.
            var rest = output[...]
            var position = 0
            for place in expected {
                let plain = text[position..<place.lowerBound]
                guard rest.starts(with: plain) else { break }
                rest = rest.dropFirst(plain.count)
                guard let mark = masker.marks.first(where: { !$0.isEmpty && rest.starts(with: $0) }) else { break }
                rest = rest.dropFirst(mark.count)
                position = place.upperBound
            }
            let isRight = Array(rest) == Array(text[position...])
            #expect(isRight, "seed \(seed), way \(way)")
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: 0..<60)
    func `Foundation's encodings of a secret are masked`(seed: Int) throws {
        var random = SplitMix64(seed: seed + 7_000)
        let characters = Array("abcXYZ019 +/=&<>'\"\\\n\té€😀%-_~.!*()")
        // Line feeds at the end are no part of any form but base64.
        let value =
            String(
                (0..<Int.random(in: 8...40, using: &random)).map { _ in characters.randomElement(using: &random) ?? "a"
                })
            + "."
        let secret = Array(value.utf8)
        guard Secret(name: "S", bytes: secret).isMaskable else { return }
        let masker = try #require(Masker([Secret(name: "S", bytes: secret)]))
        func hides(_ text: some Sequence<UInt8>, _ what: String) {
            let (output, _) = masked(Array(text), masker) { 3 }
            #expect(output == Array("[secret S]".utf8), "\(what), seed \(seed): \(value.debugDescription)")
        }
        hides(secret, "value")
        hides(Data(secret).base64EncodedString().utf8, "base64")
        let urlSafe = Data(secret).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        hides(urlSafe.utf8, "base64url")
        hides(urlSafe.replacing("=", with: "").utf8, "base64url without padding")
        hides(secret.map { String(format: "%02x", $0) }.joined().utf8, "hex")
        hides(secret.map { String(format: "%02X", $0) }.joined().utf8, "HEX")
        hides(secret.map { String(format: "%%%02x", $0) }.joined().utf8, "percent, everything")
        hides(secret.map { String(format: "%%%02X", $0) }.joined().utf8, "PERCENT, everything")
        let unreserved = CharacterSet(charactersIn: "abcXYZ019-._~")
        hides(value.addingPercentEncoding(withAllowedCharacters: unreserved)?.utf8 ?? "".utf8, "percent")
        hides(value.replacing("\n", with: "\r\n").utf8, "line ends")
        for options: JSONEncoder.OutputFormatting in [[], .withoutEscapingSlashes] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = options
            hides(try encoder.encode(value).dropFirst().dropLast(), "JSON")
        }
        let ascii = value.utf16.map { unit in
            switch unit {
            case 0x22, 0x5c: "\\" + String(UnicodeScalar(UInt8(unit)))
            case 0x0a: "\\n"
            case 0x09: "\\t"
            case 0x20..<0x7f: String(UnicodeScalar(UInt8(unit)))
            default: String(format: "\\u%04x", unit)
            }
        }
        hides(ascii.joined().utf8, "JSON in ASCII")
        hides(
            value.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").utf8, "XML")
        hides(value.replacing("'", with: "'\\''").utf8, "shell")
        hides(value.data(using: .utf16LittleEndian) ?? Data(), "UTF-16")
    }

    @Test func `a line feed at a secret's end stays in the log`() throws {
        let value = "a token of some length\n"
        let masker = try #require(Masker([Secret(name: "S", bytes: Array(value.utf8))]))
        #expect(masker.masked("one \(value)two") == "one [secret S]\ntwo")
        #expect(masker.masked(Data(value.utf8).base64EncodedString()) == "[secret S]")
        #expect(masker.masked(Data(value.dropLast().utf8).base64EncodedString()) == "[secret S]")
    }

    /// In base64 a value may begin at any of three positions in a group. The characters that its own bits fill are
    /// masked.
    @Test(.timeLimit(.minutes(1)), arguments: 0..<60)
    func `base64 of a secret among other bytes is masked`(seed: Int) throws {
        var random = SplitMix64(seed: seed + 9_000)
        func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
        let value = bytes(Int.random(in: 6...40, using: &random))
        let (before, after) = (bytes(seed % 7), bytes(Int.random(in: 0...9, using: &random)))
        guard Secret(name: "S", bytes: value).isMaskable else { return }
        let masker = try #require(Masker([Secret(name: "S", bytes: value)]))
        let text = Data(before + value + after).base64EncodedString()
        let (output, count) = masked(Array(text.utf8), masker) { 5 }
        #expect(count == 1, "seed \(seed)")
        // At most one character on each side holds bits of it, beside bits of another byte.
        let hidden = text.utf8.count - (output.count - "[secret S]".utf8.count)
        #expect(hidden * 6 > value.count * 8 - 12, "seed \(seed): \(hidden) characters for \(value.count) bytes")
    }

    @Test func `wrapped encodings are masked`() async throws {
        let value = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_0123456789!".utf8)
        let masker = try #require(Masker([Secret(name: "S", bytes: value)]))
        for options: Data.Base64EncodingOptions in [.lineLength76Characters, .lineLength64Characters] {
            for end: Data.Base64EncodingOptions in [.endLineWithLineFeed, .endLineWithCarriageReturn, []] {
                let text = Data(value).base64EncodedString(options: [options, end])
                guard end != .endLineWithCarriageReturn || text.contains("\r\n") else { continue }
                let (output, count) = masked(Array(text.utf8), masker) { 1 }
                #expect(count == 1)
                #expect(output == Array("[secret S]".utf8), "\(String(decoding: output, as: UTF8.self))")
            }
        }
    }

    @Test func `each line of a key is masked on its own`() throws {
        let key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\nshort\n-----END KEY-----\n"
        let masker = try #require(Masker([Secret(name: "KEY", bytes: Array(key.utf8))]))
        #expect(masker.masked("x\n" + key + "y") == "x\n[secret KEY]\ny")
        #expect(masker.masked("> hkiG9w0BAQEFAASC <") == "> [secret KEY] <")
        #expect(masker.masked(key.replacing("\n", with: "\r\n")) == "[secret KEY]\r\n")
        #expect(masker.masked(key.trimmingCharacters(in: .newlines)) == "[secret KEY]")
        #expect(masker.masked("a short line") == "a short line", "5 bytes of a line are found in innocent text")
    }

    @Test func `overlapping secrets are masked as one`() throws {
        let masker = try #require(
            Masker([
                Secret(name: "A", bytes: Array("token-1234".utf8)), Secret(name: "B", bytes: Array("1234-value".utf8)),
                Secret(name: "C", bytes: Array("token-12345678".utf8)),
            ]))
        #expect(masker.masked("<token-1234-value>") == "<[secret A]>")
        #expect(masker.masked("<token-12345678>") == "<[secret C]>")
        #expect(masker.masked("<token-1234token-1234>") == "<[secret A][secret A]>")
        #expect(masker.secret(in: "x 1234-value") == "B")
        #expect(masker.secret(in: "x 1234-valu") == nil)
    }

    @Test func `a replacement never contains another secret`() throws {
        let masker = try #require(
            Masker([
                Secret(name: "WORD", bytes: Array("secret".utf8)), Secret(name: "OTHER", bytes: Array("[masked]".utf8)),
            ]))
        #expect(masker.masked("a secret, [masked]") == "a ***, ***")
    }

    @Test func `bytes that can't begin a form pass at once`() throws {
        let masker = try #require(Masker([Secret(name: "S", bytes: Array("password: hunter2".utf8))]))
        var stream = MaskingStream(masker)
        func feed(_ text: String) -> String {
            var output: [UInt8] = []
            Array(text.utf8).withUnsafeBytes { stream.feed($0) { output += $0 } }
            return String(decoding: output, as: UTF8.self)
        }
        #expect(feed("Continue? [y/n] ") == "Continue? [y/n] ", "a prompt without a line feed is not delayed")
        #expect(feed("password") == "", "this may be the secret's start")
        #expect(feed(" of ada: ") == "password of ada: ")
        #expect(feed("password: hunt") == "")
        #expect(feed("er2 and more") == "[secret S] and more")
        #expect(feed("pass") == "")
        var rest: [UInt8] = []
        stream.flush { rest += $0 }
        #expect(rest == Array("pass".utf8))
    }

    @Test(.timeLimit(.minutes(2)), arguments: [false, true])
    func `a secret of 64 KiB is masked`(isText: Bool) throws {
        var random = SplitMix64(seed: isText ? 1 : 2)
        var value: [UInt8] =
            isText
            ? (0..<1_024).flatMap { _ in
                (0..<63).map { _ in UInt8.random(in: 0x41...0x5a, using: &random) } + [UInt8(ascii: "\n")]
            }
            : (0..<65_536).map { _ in UInt8.random(in: 0...255, using: &random) }
        value[65_535] = 0x5a
        let masker = try #require(Masker([Secret(name: "BIG", bytes: value)]))
        let hex = value.map { String(format: "%02x", $0) }.joined()
        for (what, form) in [
            ("value", value), ("base64", Array(Data(value).base64EncodedString().utf8)), ("hex", Array(hex.utf8)),
        ] {
            let (output, count) = masked(Array("before ".utf8) + form + Array(" after".utf8), masker) { 1_500 }
            #expect(count == 1, "\(what)")
            #expect(output == Array("before [secret BIG] after".utf8), "\(what): \(output.count) bytes")
        }
        // Without its end it is no form as a whole, and its lines still are.
        let (cut, count) = masked(Array(value.dropLast(2)), masker) { 4_096 }
        #expect(count > 100 && cut.count < value.count / 2)
    }

    @Test func `a repeated secret does not fill the memory`() throws {
        let masker = try #require(Masker([Secret(name: "S", bytes: Array("aaaaaa".utf8))]))
        var stream = MaskingStream(masker)
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 16)
        var output: [UInt8] = []
        for _ in 0..<64 { piece.withUnsafeBytes { stream.feed($0) { output += $0 } } }
        #expect(output.isEmpty)
        stream.flush { output += $0 }
        #expect(output == Array("[secret S]".utf8))
    }

    @Test(arguments: ["", "abcde", "abcde\n", "abc\r\n\n\n\n\n"])
    func `a secret that is too short is not masked`(value: String) {
        let secret = Secret(name: "S", bytes: Array(value.utf8))
        #expect(!secret.isMaskable)
        #expect(Masker([secret]) == nil)
        #expect(Masker([]) == nil)
    }

    @Test func `a secret prints as its name`() {
        let secret = Secret(name: "TOKEN", bytes: Array("hunter2hunter2".utf8))
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] {
            #expect(!text.contains("hunter") && !text.contains("104"), "\(text)")
        }
        #expect("\(secret)" == "secret TOKEN")
    }
}
