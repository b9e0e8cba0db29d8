import Testing

@testable import MCP

struct JSONTests {
    @Test(arguments: ["null", "true", "3", "-0.5", "\"a\\u0000/\"", "[1,[2]]", "{\"a\":{\"b\":[]}}"])
    func `JSON survives reading and writing`(text: String) throws {
        let json = try JSON(parsing: text.utf8)
        #expect(try JSON(parsing: json.bytes) == json)
    }

    @Test(arguments: [
        "\u{7F}", "\u{80}", "\u{9B}31m", "\u{9F}", "\u{61C}", "\u{200B}", "\u{202E}", "\u{2066}", "\u{FEFF}",
    ])
    func `characters that act on a terminal are escaped`(text: String) throws {
        let json: JSON = .object(["a\(text)": .string("é\(text)\u{1F600}\\"), "b": .string(text)])
        let written = json.text
        #expect(!written.unicodeScalars.contains { text.unicodeScalars.first == $0 })
        #expect(written.contains("é") && written.contains("\u{1F600}"), "what is visible stays as it is")
        #expect(try JSON(parsing: json.bytes) == json)
    }

    @Test func `an extremely nested value is refused`() {
        let text = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: (any Error).self) { try JSON(parsing: text.utf8) }
    }

    @Test(arguments: ["", "{", "{\"a\":}", "\u{1}", "{\"a\":1}x"])
    func `a text that is not JSON is refused`(text: String) {
        #expect(throws: (any Error).self) { try JSON(parsing: text.utf8) }
    }
}
