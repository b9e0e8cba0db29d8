import Foundation
import Testing

@testable import Signing

@Suite struct BytesTests {
    /// RFC 7693, appendix A, and the digest of nothing.
    @Test(arguments: [
        (
            "abc",
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925a"
                + "b92386edd4009923"
        ),
        (
            "",
            "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419d25e1031afee585313896444934eb04b903a685b1448b755"
                + "d56f701afe9be2ce"
        ),
    ])
    func `BLAKE2b gives the published digests`(_ text: String, _ digest: String) {
        #expect(String(hexadecimal: BLAKE2b.hash(text.utf8)) == digest)
    }

    /// The digest of the digests of 400 inputs of each length, of Python's hashlib.
    @Test(arguments: [
        (
            64,
            "1f91579d76965e2e30c4e5c5bbbee5135b086af573458142bb95a5ac22b66e434aedb60a9b22242b7a0f3222a862e3e0878ee44226624d49"
                + "19895c676daa1e9c"
        ),
        (32, "572bd539561f06dca618135ff160af2837166b8e45fa64e327a46d3c0d76c3ad"),
    ])
    func `BLAKE2b agrees with another implementation at each length`(_ length: Int, _ digest: String) {
        var all = BLAKE2b(length: length)
        for count in 0..<400 {
            let input = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 7 + count) }
            BLAKE2b.hash(input, length: length).withUnsafeBytes { all.update($0) }
        }
        #expect(String(hexadecimal: all.finalize()) == digest)
    }

    @Test func `BLAKE2b does not depend on how its input comes in pieces`() {
        let input = (0..<1_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
        let whole = BLAKE2b.hash(input)
        for size in [1, 63, 64, 127, 128, 129, 256, 999] {
            var hash = BLAKE2b()
            var rest = input[...]
            while !rest.isEmpty {
                Array(rest.prefix(size)).withUnsafeBytes { hash.update($0) }
                rest = rest.dropFirst(size)
            }
            #expect(hash.finalize() == whole, "pieces of \(size)")
        }
    }

    @Test(arguments: [
        #"{"a":1,"b":[true,false,null,-0.5e+3,"\u00e9\ud83d\ude00\n"]}"#, " [ ] ", "0", #""""#,
        #"{"a":{"b":{}},"c":{"b":1}}"#,
    ])
    func `JSON with one meaning is read`(_ text: String) async {
        #expect(await code { try StrictJSON.check(Data(text.utf8), named: "it") } == nil)
    }

    @Test(arguments: [
        "", "{", "{}x", "{} {}", "{'a':1}", #"{"a":1,}"#, "[1 2]", "[1,]", "01", "1.", "-", "+1", ".5", "1e", "NaN",
        "nul", #""\x""#,
        "\"\u{1}\"", #""\ud800""#, #""\ud800\u0041""#, #""\udc00\ud800""#, "\u{FEFF}{}", "//\n{}", #"{"a" 1}"#, "{1:2}",
        #""a"#,
        String(repeating: "[", count: 33) + String(repeating: "]", count: 33), String(repeating: "[", count: 100_000),
    ])
    func `text that is no JSON is refused`(_ text: String) async {
        #expect(await code { try StrictJSON.check(Data(text.utf8), named: "it") } == .malformed)
    }

    @Test(arguments: [#"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"[{"x":{"b":1,"c":2,"b":3}}]"#, #"{"é":1,"é":2}"#])
    func `a key twice is refused, however it is written`(_ text: String) async {
        #expect(await code { try StrictJSON.check(Data(text.utf8), named: "it") } == .duplicateKey)
    }

    @Test func `bytes that are no UTF-8 are no JSON`() async {
        #expect(await code { try StrictJSON.check(Data([0x22, 0xC3, 0x28, 0x22]), named: "it") } == .malformed)
    }

    @Test(arguments: [
        "https://github.com/Apple/swift-crypto", "https://user:secret@github.com/Apple/swift-crypto.git",
        "github.com/Apple/swift-crypto",
        "git@github.com:Apple/swift-crypto.git", "ssh://git@GitHub.com:22/Apple/swift-crypto",
        "https://github.com/Apple/swift-crypto/",
    ])
    func `a repository is the same however it is written`(_ text: String) {
        #expect(RepositoryAddress(text)?.description == "github.com/Apple/swift-crypto")
    }

    @Test(arguments: ["", "/srv/git/tool", "../tool", "file:///srv/git/tool", "github.com", "https://github.com/../x"])
    func `what names no machine is no address`(_ text: String) {
        #expect(RepositoryAddress(text) == nil)
    }

    @Test func `versions have the order of semver`() throws {
        let ordered = [
            "0.9", "v1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11",
            "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2", "1.10.0",
        ].compactMap(OrderedVersion.init)
        #expect(ordered.count == 12)
        for (index, one) in ordered.enumerated() {
            for (other, two) in ordered.enumerated() { #expect((one < two) == (index < other), "\(one) and \(two)") }
        }
        #expect(OrderedVersion("1.2") == OrderedVersion("1.2.0+build.7"))
        for text in ["", "x", "1..2", "1.x", "1.0-", "99999999999", "1.-2", "1.2.3.4.5.6.7"] {
            #expect(OrderedVersion(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "../a", "a\\b", "a\nb", "a\u{1B}[2J", "a\u{202E}b", String(repeating: "a", count: 256),
    ])
    func `a name with a folder or a control character is not plain`(_ name: String) {
        #expect(!name.isPlainName)
    }
}
