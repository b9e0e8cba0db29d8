import WorkflowPrograms
import Engine
import Pipeline
import TestBasics
import TestIntegrity
import Testing
@testable import Evaluating

/// Files that were written to be hard to read end in a question to a person, soon.
@Suite(.serialized) struct HostileSourceTests {
    private static let good = """
        import Testing

        @Suite struct SumTests {
        @Test func sums() { #expect(sum(1, 2) == 3) }
        @Test func differs() { #expect(difference(7, 2) == 5) }
        }
        """

    /// The program itself, with its limits: what is slow or deep ends it, and nothing else. One at a time, since some of
    /// the files take all the memory that it may have.
    private static let check = IntegrityCheck(
        rules: [.standard], reader: SwiftReaderProcess(beside: nil, .none),
        timeLimit: .seconds(TestForm.count(15, short: 4)))

    static let hostile: [(name: String, bytes: [UInt8])] = [
        ("open string", Array("\(good)\nlet a = \"".utf8)),
        ("open string of lines", Array("\(good)\nlet a = \"\"\"\n".utf8)),
        ("open raw string", Array("\(good)\nlet a = ##\"x\"#".utf8)),
        ("open interpolation", Array("\(good)\nlet a = \"\\((((((\"".utf8)),
        ("open comment", Array("\(good)\n/* /* */".utf8)),
        ("open bracket", Array("\(good)\nfunc a() { (".utf8)),
        ("wrong bracket", Array("\(good)\nfunc a() { (] }".utf8)),
        ("open #if", Array("\(good)\n#if true".utf8)),
        ("stray #endif", Array("\(good)\n#endif".utf8)),
        ("stray #else", Array("\(good)\n#else".utf8)),
        ("brackets", Array(String(repeating: "(", count: 100_000).utf8)),
        (
            "balanced brackets",
            Array((String(repeating: "(", count: 50_000) + String(repeating: ")", count: 50_000)).utf8)
        ),
        ("literals in literals", Array((String(repeating: "\"\\(", count: 10_000)).utf8)),
        ("conditions", Array(String(repeating: "#if a\n", count: 1_000).utf8)),
        ("words", Array(String(repeating: "a ", count: 450_000).utf8)),
        ("large", [UInt8](repeating: 0x20, count: 3 << 20)),
        ("long condition", Array(("#if " + String(repeating: "a || ", count: 50_000) + "b\n#endif").utf8)),
        ("many branches", Array(("#if a\n" + String(repeating: "#elseif b\n", count: 50_000) + "#endif").utf8)),
        ("open backtick", Array("\(good)\n`".utf8)),
        ("open regular expression", Array("\(good)\nlet a = #/x".utf8)),
    ]

    @Test(.timeLimit(.minutes(1)), arguments: hostile.map(\.name))
    func isAskedAbout(_ name: String) async throws {
        let bytes = try #require(Self.hostile.first { $0.name == name }?.bytes)
        let file = ChangedSource(path: "Tests/A/a.swift", old: .bytes(Array(Self.good.utf8)), new: .bytes(bytes))
        let start = ContinuousClock.now
        let breaches = await Self.check.breaches(of: [file])
        #expect(breaches.map(\.kind) == [.unreadable])
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    private static func size(_ long: Int) -> Int { TestForm.count(long, short: long / 8) }

    /// Long, but well formed: each is read in about the time that its length takes, and is no pass by being long.
    static let long: [(name: String, text: String)] = [
        (
            "or",
            "import Testing\n@Test func a() { #expect(" + String(repeating: "a == b || ", count: size(4_000)) + "c) }"
        ),
        ("returns", "import Testing\n@Test func a() { " + String(repeating: "return ", count: size(2_000)) + "}"),
        (
            "blocks with returns",
            "import Testing\n@Test func a() { " + String(repeating: "if a { return }\n", count: size(2_000)) + "}"
        ),
        (
            "nested blocks",
            "import Testing\n@Test func a() { " + String(repeating: "if a { return ", count: 390)
                + String(repeating: "}", count: 391)
        ),
        ("ifs", "import Testing\n@Test func a() { " + String(repeating: "if ", count: size(2_000)) + "}"),
        ("classes", String(repeating: "class A ", count: size(2_000))),
        ("functions", String(repeating: "func a ", count: size(2_000))),
        ("constants", String(repeating: "let a = ", count: size(2_000))),
        ("slashes", "let a = " + String(repeating: "=/[a ", count: size(2_000))),
        ("hashes", String(repeating: "#", count: size(4_000))),
        (
            "tests of one name",
            "import Testing\n" + String(repeating: "@Test func a() { #expect(x == 1) }\n", count: size(2_000))
        ),
        (
            "helpers that call one another",
            (0..<size(3_000)).map { "func f\($0)() { f\($0 + 1)(); f\($0 + 2)(); f\($0)(); #expect(a == 1) }\n" }
                .joined()
        ),
        (
            "nested conditions",
            String(repeating: "#if a\n", count: 30) + String(repeating: "a ", count: size(2_000))
                + String(repeating: "#endif\n", count: 30)
        ),
    ]

    @Test(.timeLimit(.minutes(2)), arguments: long.map(\.name))
    func isReadInTime(_ name: String) async throws {
        let text = try #require(Self.long.first { $0.name == name }?.text)
        let start = ContinuousClock.now
        let pairs = [(Self.good, text), (text, ""), (text, text + "\n")]
        for (old, new) in pairs.prefix(TestForm.count(3, short: 1)) {
            let file = ChangedSource(
                path: "Tests/A/a.swift", old: .bytes(Array(old.utf8)), new: .bytes(Array(new.utf8)))
            _ = await Self.check.breaches(of: [file])
        }
        // Debug builds take some seconds; what grows with the square of the length would take hours.
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test func tooLargeToBeRead() async {
        let file = ChangedSource(
            path: "Tests/A/a.swift", old: .bytes(Array(Self.good.utf8)), new: .tooLarge(50 << 20))
        #expect(await Self.check.breaches(of: [file]).map(\.kind) == [.unreadable])
    }

    /// Any bytes: some are Swift, none may end the process, all come to an end.
    @Test(.timeLimit(.minutes(2)), arguments: 0..<UInt64(TestForm.count(300, short: 40)))
    func anyBytes(_ seed: UInt64) async {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next(_ bound: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(bound))
        }
        let pieces = [
            "\"", "\\(", ")", "{", "}", "(", "[", "]", "#if false\n", "#else\n", "#endif\n", "/*", "*/", "//", "\n",
            "/", "#", "`",
            "func test() ", "@Test ", "#expect", "(1 == 1)", "for i in ", "0..<9", "class A: B ", "\"\"\"", "try? ",
            "return ",
            "guard x else ", "@", ".", "=", "let a ", "import XCTest\n", "\u{0}", "é", "arguments: ", "if false ", ",",
            ":",
        ]
        var text = ""
        for _ in 0..<next(400) { text += pieces[next(pieces.count)] }
        let file = ChangedSource(
            path: "Tests/A/a.swift", old: .bytes(Array(text.utf8)), new: .bytes(Array(String(text.dropFirst(3)).utf8)))
        _ = await Self.check.breaches(of: [file])
        let manifest = ChangedSource(
            path: "Package.swift", old: .bytes(Array(text.utf8)), new: .bytes(Array(String(text.dropLast(3)).utf8)))
        _ = await Self.check.breaches(of: [manifest])
        for path in ["test_a.py", "tests/a.rs", "a_test.go", "a.test.ts", "tests/a.cc"] {
            let other = ChangedSource(path: path, old: .bytes(Array(text.utf8)), new: .bytes([]))
            _ = await Self.check.breaches(of: [other])
        }
    }
}
