@testable import Pipeline
import TestBasics
import Testing

@Suite struct GlobTests {
    @Test(arguments: [
        ("*.swift", "a.swift", true), ("*.swift", "dir/a.swift", false), ("*.swift", ".swift", true),
        ("**/*.swift", "a.swift", true), ("**/*.swift", "a/b/c.swift", true), ("**", "anything/at/all", true),
        ("Sources/**", "Sources/a/b", true), ("Sources/**", "Sources", true), ("Sources/**", "Sources2/a", false),
        ("a/**/b", "a/b", true), ("a/**/b", "a/x/y/b", true), ("a/**/b", "a/x/y/c", false),
        ("a?c", "abc", true), ("a?c", "a/c", false), ("a?c", "ac", false), ("a?c", "aéc", true),
        ("[a-c]x", "bx", true), ("[a-c]x", "dx", false), ("[!a-c]x", "dx", true), ("[^a-c]x", "ax", false),
        ("[]a]", "]", true), ("[!]a]", "]", false), ("[!]a]", "b", true), ("[a-]", "-", true),
        ("release/{1,2}.*", "release/2.3", true), ("release/{1,2}.*", "release/3.1", false),
        ("{a,b{c,d}}", "bd", true), ("{a,b{c,d}}", "b", false), ("x{,y}", "x", true),
        ("\\*", "*", true), ("\\*", "a", false), ("\\{a\\}", "{a}", true), ("a,b", "a,b", true),
        ("a", "A", false), ("a//b", "a/b", true), ("./a", "a", true), ("a/", "a", true),
        ("main", "main", true), ("main", "maintenance", false), ("agent/*", "agent/1/2", false),
        // A combining mark makes one character of the slash before it, but no other path.
        ("docs/*", "docs/\u{301}x/y", false), ("docs/**", "docs/\u{301}x/y", true),
        ("*", "\r\n", true), ("??", "\r\n", true),
    ])
    func matchesAsWritten(pattern: String, path: String, expected: Bool) throws {
        #expect(try Glob(pattern).matches(path) == expected)
    }

    @Test(arguments: [
        ("Sources/**", "Sources", true), ("Sources/**", "Sources/a/b", true), ("Sources/**", "Tests", false),
        ("**", "anything", true), ("**/*.swift", "Sources", false), ("Sources/*", "Sources", false),
        ("Sources", "Sources", false), ("{a,b}/**", "b", true), ("a/**/b/**", "a/x/b", true), ("a/**/b", "a/x", false),
    ])
    func `a glob covers a folder if every path below it matches`(pattern: String, path: String, expected: Bool) throws {
        #expect(try Glob(pattern).covers(path) == expected)
    }

    @Test(arguments: [
        ("out/*", "dist/*", true), ("*", "dist/*", true), ("dist/a", "dist/*", false),
        ("dist/*.deb", "dist/a.rpm", true),
        ("dist/*.deb", "dist/*.rpm", false), ("{a,b}/*", "b/x", false), ("{a,b}/*", "c/*", true), ("**/x", "y", false),
        ("a/**", "a", false), ("a/**", "b/c", true), ("a", "a", false),
    ])
    func `patterns that have no path in common are known by their segments`(
        one: String, two: String, expected: Bool
    ) throws {
        #expect(try Glob(one).excludes(Glob(two)) == expected)
        #expect(try Glob(two).excludes(Glob(one)) == expected)
    }

    @Test(arguments: [
        "", "/", "/etc/*", "..", "a/../b", "../x", "[", "[a", "a[!", "{a", "a{b,{c}", "x\\", "[z-a]", ".", "./",
        String(repeating: "a", count: 1_025), String(repeating: "{a,b}", count: 20),
    ])
    func `an invalid pattern is refused with a reason`(pattern: String) {
        let problem = #expect(throws: GlobProblem.self) { try Glob(pattern) }
        #expect(problem?.reason.isEmpty == false)
        #expect(problem?.pattern == pattern)
    }

    @Test func `a glob tells which folders may contain matches`() throws {
        let glob = try Glob("Sources/*/Resources/**")
        for folder in ["Sources", "Sources/App", "Sources/App/Resources", "Sources/App/Resources/a/b"] {
            #expect(glob.canMatch(below: folder), "\(folder)")
        }
        for folder in ["Tests", "Sources/App/Other"] { #expect(!glob.canMatch(below: folder), "\(folder)") }
        #expect(try !Glob("a/b").canMatch(below: "a/b"))
    }

    /// Compares with a matcher that tries everything, over small alphabets in which special cases are frequent.
    @Test(arguments: 0..<20) func `a glob matches the same paths as a naive matcher`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<1_000 {
            let segments = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                Int.random(in: 0..<4, using: &random) == 0
                    ? "**"
                    : String(
                        (0..<Int.random(in: 1...4, using: &random)).map { _ in
                            "ab*?".randomElement(using: &random) ?? "a"
                        })
            }
            let path = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                String(
                    (0..<Int.random(in: 1...4, using: &random)).map { _ in "ab".randomElement(using: &random) ?? "a" })
            }
            let pattern = segments.joined(separator: "/")
            let expected = Naive.match(segments[...], path[...])
            #expect(try Glob(pattern).matches(path.joined(separator: "/")) == expected, "\(pattern) on \(path)")
            if expected, path.count > 1 {
                #expect(
                    try Glob(pattern).canMatch(below: path.dropLast().joined(separator: "/")),
                    "\(pattern) below \(path)")
            }
        }
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            (String(repeating: "a*", count: 500) + "x", String(repeating: "a", count: 4_096) + "b"),
            (String(repeating: "**/a/", count: 200), String(repeating: "a/", count: 2_000) + "b"),
            (String(repeating: "**/*a*b/", count: 120), String(repeating: "aaaaaaaa/", count: 450)),
            (
                String(repeating: "{a,aa}", count: 8) + String(repeating: "*a", count: 480) + "x",
                String(repeating: "a", count: 1_024)
            ),
            ("[" + String(repeating: "a-z", count: 300) + "]*x", String(repeating: "a", count: 4_096)),
        ])
    func aHostilePatternIsFast(pattern: String, path: String) throws {
        let glob = try Glob(pattern)
        let time = ContinuousClock().measure { #expect(!glob.matches(path)) }
        #expect(time < .seconds(20))
    }

    private enum Naive {
        static func match(_ pattern: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
            guard let first = pattern.first else { return path.isEmpty }
            if first == "**" {
                return (0...path.count).contains { match(pattern.dropFirst(), path.dropFirst($0)) }
            }
            guard let name = path.first else { return false }
            return text(Array(first)[...], Array(name)[...]) && match(pattern.dropFirst(), path.dropFirst())
        }

        static func text(_ pattern: ArraySlice<Character>, _ name: ArraySlice<Character>) -> Bool {
            switch pattern.first {
            case nil: name.isEmpty
            case "*": (0...name.count).contains { text(pattern.dropFirst(), name.dropFirst($0)) }
            case "?": !name.isEmpty && text(pattern.dropFirst(), name.dropFirst())
            case let wanted: name.first == wanted && text(pattern.dropFirst(), name.dropFirst())
            }
        }
    }
}
