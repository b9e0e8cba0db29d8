import Testing

@testable import MCP

struct JSONTests {
    @Test(arguments: ["null", "true", "3", "-0.5", "\"a\\u0000/\"", "[1,[2]]", "{\"a\":{\"b\":[]}}"])
    func whatIsReadIsWrittenAgain(text: String) throws {
        let json = try JSON(parsing: text.utf8)
        #expect(try JSON(parsing: json.bytes) == json)
    }

    @Test func anExtremelyDeepValueIsRefused() {
        let text = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: (any Error).self) { try JSON(parsing: text.utf8) }
    }

    @Test(arguments: ["", "{", "{\"a\":}", "\u{1}", "{\"a\":1}x"])
    func whatIsNoJSONIsRefused(text: String) {
        #expect(throws: (any Error).self) { try JSON(parsing: text.utf8) }
    }
}
