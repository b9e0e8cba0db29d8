import Foundation
import Testing

@testable import Masking

/// Forms of a secret beyond a single usual encoding: encoded twice, in mixed case, with colours.
struct SecretFormsTests {
    private static let token = "ghp_Zq1/x+w4=\"rT9~k\\m&7"
    private static let key =
        "-----BEGIN KEY-----\n"
        + String(repeating: "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", count: 8)
        + "-----END KEY-----"

    private func masker(_ values: String...) throws -> Masker {
        try #require(
            Masker(values.enumerated().map { Secret(name: "S\($0.offset)", bytes: Array($0.element.utf8)) }))
    }

    private static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
    private static func hex(_ text: String) -> String { text.utf8.map { String(format: "%02x", $0) }.joined() }
    private static func percent(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "-._~")))
            ?? ""
    }
    private static func json(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    @Test func `twice-encoded secrets are masked`() throws {
        let masker = try masker(Self.token)
        let encodings: [(String, (String) -> String)] = [
            ("base64", Self.base64), ("hex", Self.hex), ("percent", Self.percent), ("JSON", Self.json),
        ]
        for (first, once) in encodings {
            for (second, twice) in encodings {
                #expect(masker.masked(twice(once(Self.token))) == "[secret S0]", "\(first), then \(second)")
            }
        }
        let wide = Data(Self.token.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] })
        #expect(masker.masked(wide.base64EncodedString()) == "[secret S0]", "UTF-16, then base64")
    }

    /// `echo "user:$TOKEN"
    /// base64
    /// base64`, at each position that the value can have in both encodings.
    @Test func `base64 of base64 among other text is masked`() throws {
        let masker = try masker(Self.token)
        for before in ["", "a", "ab", "abc"] {
            for between in ["", "x", "xy"] {
                let text = Self.base64(between + Self.base64(before + Self.token + "\n") + "\n")
                let output = masker.masked(text)
                // Four characters on each side may hold bits of what is around it.
                let hidden = text.utf8.count - output.replacing("[secret S0]", with: "").utf8.count
                #expect(hidden * 9 >= Self.token.utf8.count * 16 - 9 * 8, "\(before), \(between): \(output)")
            }
        }
    }

    @Test func `a key of many lines is masked in JSON in base64`() throws {
        let masker = try masker(Self.key)
        let account = Self.base64("{\"key\": \"\(Self.json(Self.key))\"}")
        #expect(account.count - masker.masked(account).count > Self.key.count)
        let options: Data.Base64EncodingOptions = [.lineLength76Characters, .endLineWithLineFeed]
        let once = Data(Self.key.utf8).base64EncodedString(options: options) + "\n"
        #expect(masker.masked(Data(once.utf8).base64EncodedString()) == "[secret S0]")
        let json = "{\"text\": \"\(Self.json("{\"key\": \"\(Self.json(Self.key))\"}"))\"}"
        #expect(masker.masked(json) == #"{"text": "{\"key\": \"[secret S0]\"}"}"#)
    }

    @Test func `a secret is masked in upper and lower case`() throws {
        let masker = try masker(Self.token)
        let hex = Self.hex(Self.token).enumerated().map {
            $0.offset % 3 == 0 ? $0.element.uppercased() : "\($0.element)"
        }
        #expect(masker.masked("<\(hex.joined())>") == "<[secret S0]>")
        var isUpper = false
        let percent = Self.percent(Self.token).replacing(#/%../#) { match in
            isUpper.toggle()
            return isUpper ? match.output.uppercased() : match.output.lowercased()
        }
        #expect(masker.masked("<\(percent)>") == "<[secret S0]>")
        #expect(masker.masked(Self.token.uppercased()) == "[secret S0]")
        // Bytes whose bits differ as the cases do are no letters.
        #expect(masker.masked(Self.token.replacing("~", with: "^")) != "[secret S0]")
        #expect(try self.masker("[[[@@@").masked("{{{```") == "{{{```")
    }

    private static let sequences = ["\u{1b}[0m", "\u{1b}[01;31m\u{1b}[K", "\u{1b}(B\u{1b}[m", "\u{1b}[38:2:1:2:3m"]

    @Test(arguments: sequences)
    func `a control sequence within a secret does not prevent masking`(sequence: String) throws {
        let masker = try masker(Self.token)
        let bytes = Array(Self.token.utf8)
        for place in 1..<bytes.count {
            let text =
                Array("a \(sequence)".utf8) + bytes[..<place] + Array(sequence.utf8) + bytes[place...]
                + Array("\(sequence) b".utf8)
            for size in [1, 2, 5, text.count] {
                var stream = MaskingStream(masker)
                var output: [UInt8] = []
                for start in stride(from: 0, to: text.count, by: size) {
                    Array(text[start..<min(start + size, text.count)]).withUnsafeBytes {
                        stream.feed($0) { output += $0 }
                    }
                }
                stream.flush { output += $0 }
                // Sequences stay: a colour that was put on is taken off.
                #expect(
                    String(decoding: output, as: UTF8.self) == "a \(sequence)[secret S0]\(sequence)\(sequence) b",
                    "at \(place), \(size) bytes at a time")
            }
        }
    }

    @Test func `control sequences outside of secrets remain`() throws {
        let masker = try masker(Self.token)
        var random = SystemRandomNumberGenerator()
        let pieces = [
            "\u{1b}", "\u{1b}[", "\u{1b}[3", "m", "\u{1b}[0m", "\u{1b}(B", "\u{1b}(", "ghp_", "x", "Z3", "\n", " ",
        ]
        for _ in 0..<500 {
            let text = (0..<30).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let bytes = Array(text.utf8)
            var stream = MaskingStream(masker)
            var output: [UInt8] = []
            var position = 0
            while position < bytes.count {
                let end = min(position + Int.random(in: 1...40), bytes.count)
                Array(bytes[position..<end]).withUnsafeBytes { stream.feed($0) { output += $0 } }
                position = end
            }
            stream.flush { output += $0 }
            #expect(output == bytes, "\(text.debugDescription)")
        }
    }

    @Test func `coloured output is not held back`() throws {
        var stream = MaskingStream(try masker(Self.token))
        func feed(_ text: String) -> String {
            var output: [UInt8] = []
            Array(text.utf8).withUnsafeBytes { stream.feed($0) { output += $0 } }
            return String(decoding: output, as: UTF8.self)
        }
        #expect(feed("\u{1b}[1mContinue? \u{1b}[0m") == "\u{1b}[1mContinue? \u{1b}[0m")
        // Sequences without an end of text are handed on when too many wait.
        #expect(feed("ghp_") == "")
        #expect(feed(String(repeating: "\u{1b}[m", count: 2_000)).utf8.count > 3_000)
    }

    @Test func `a secret with an escape character is masked`() throws {
        let value = "one\u{1b}[1mtwo three"
        #expect(try masker(value).masked("<\(value)>") == "<[secret S0]>")
    }

    @Test(.timeLimit(.minutes(2))) func `the automaton's size is limited`() throws {
        let most = Masker.twiceEncodedBytes
        var sizes: [Int] = []
        for count in [1, 10, 100] {
            let secrets = (0..<count).map { Secret(name: "S\($0)", bytes: Array("\($0 * 7_919)-\(Self.token)".utf8)) }
            let forms = secrets.map { SecretForms(of: $0.bytes) }
            #expect(forms.allSatisfy { $0.twice.count <= 600 })
            let once = forms.reduce(0) { $0 + $1.all.reduce(0) { $0 + $1.count } }
            let masker = try #require(Masker(secrets))
            #expect(masker.automaton.depth.count <= once + most + 1)
            sizes.append(masker.automaton.depth.count)
            let last = "\((count - 1) * 7_919)-\(Self.token)"
            #expect(masker.masked(last) == "[secret S\(count - 1)]")
        }
        #expect(SecretForms(of: Array(repeating: 0x61, count: 1 << 16)).twice.isEmpty)
    }
}
