import Foundation
import Git
import Testing

@Suite struct OIDTests {
    @Test func readsAndWritesHex() throws {
        let hex = "0123456789abcdef0123456789abcdef89abcdef"
        let id = try #require(OID(hex: hex.uppercased()))
        #expect(id.hex == hex)
        #expect(id.short == "0123456789")
        #expect(try JSONDecoder().decode([OID].self, from: JSONEncoder().encode([id])) == [id])
    }

    @Test(arguments: ["", "0123", String(repeating: "g", count: 40), String(repeating: "0", count: 41), "é"])
    func `a text that is not an id is refused`(_ text: String) {
        #expect(OID(hex: text) == nil)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([OID].self, from: JSONEncoder().encode([text]))
        }
    }

    @Test func sortsLikeItsHex() {
        let ids = (0..<200).map { _ in (0..<40).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined() }
        #expect(ids.compactMap(OID.init(hex:)).sorted().map(\.hex) == ids.sorted())
    }
}
