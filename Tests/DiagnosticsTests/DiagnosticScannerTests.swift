@testable import Diagnostics
@testable import Results
import Foundation
import Pipeline
import Testing

/// The first errors in real output, each with the location that a person would open.
@Suite struct DiagnosticScannerTests {
    private static func bytes(_ name: String) throws -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }

    private func scan(_ text: String) -> [String] {
        DiagnosticScanner().findings(in: Array(text.utf8)).map(Self.line)
    }

    private static func line(_ finding: Finding) -> String {
        let place = finding.file.map { "\($0):\(finding.line ?? 0)" } ?? "-"
        return
            "\(place) \(finding.severity.rawValue) [\(finding.rule)] \(finding.message.split(separator: "\n").first ?? "")"
    }

    @Test(
        arguments: [
            (
                "swiftc.txt",
                "Sources/App/main.swift:3 error [error] cannot convert value of type 'String' to specified type 'Int'"
            ),
            ("module.txt", "Sources/App/dep.swift:2 error [error] no such module 'NoSuchModule'"),
            ("crash.txt", "Sources/App/crash.swift:5 error [crash] Index out of range"),
            ("format.txt", "Sources/App/lint.swift:1 warning [Spacing] [Spacing] remove 1 space"),
            ("pytest.txt", "tests/test_a.py:10 error [AssertionError] assert -1 == 3"),
            ("pytest-short.txt", "tests/test_a.py:10 error [pytest] assert -1 == 3"),
            ("pytest-line.txt", "/w/tests/test_a.py:10 error [pytest] assert -1 == 3"),
            (
                "pytest-import.txt",
                "tests/test_dep.py:2 error [ModuleNotFoundError] ModuleNotFoundError: No module named 'no_such_module'"
            ),
            ("traceback.txt", "/w/tests/helper.py:6 error [ValueError] ValueError: no value for 'x'"),
            ("syntax.txt", "/w/tests/syn.py:1 error [SyntaxError] SyntaxError: invalid syntax"),
            ("assert.txt", "c/a.c:6 error [assertion] Assertion `x == 2' failed."),
            ("gcc-header.txt", "c/bad.c:1 error [error] no_such.h: No such file or directory"),
            ("gcc.txt", "c/bad2.c:3 error [error] ‘y’ undeclared (first use in this function)"),
            ("clang.txt", "c/bad2.c:3 error [error] use of undeclared identifier 'y'"),
            ("link.txt", "/w/c/link.c:3 error [error] undefined reference to `missing'"),
            (
                "cmake.txt",
                "CMakeLists.txt:3 error [cmake find_package] By not providing \"FindNoSuchThing.cmake\" in CMAKE_MODULE_PATH this project has asked CMake to find a package configuration file provided by \"NoSuchThing\", but CMake did not find one."
            ),
            ("ctest.txt", "/w/c/a.c:6 error [assertion] Assertion `x == 2' failed."),
            ("asan.txt", "c/san.c:6 error [crash] heap-use-after-free"),
            ("make.txt", "Makefile:2 error [make] make all failed: Error 1"),
            ("sh.txt", "s.sh:3 error [error] no_such_command: not found"),
            ("bash.txt", "s.sh:3 error [error] no_such_command: command not found"),
        ])
    func `each tool's first error is found`(name: String, expected: String) throws {
        let findings = DiagnosticScanner().findings(in: try Self.bytes(name))
        let first = try #require(findings.first.map(Self.line))
        #expect(first.hasPrefix(expected), "\(findings.map(Self.line))")
        #expect(findings.count <= 6)
    }

    @Test func `the code that a compiler shows belongs to its message`() throws {
        let finding = try #require(DiagnosticScanner().findings(in: try Self.bytes("swiftc.txt")).first)
        #expect(finding.column == 14)
        #expect(finding.excerpt?.contains("3 | let n: Int = \"a\"") == true)
    }

    @Test func `errors of several tools are found`() {
        let text = """
            Compiling…
            a/b.swift:1:2: warning: unused (unused_thing)
            a/b.swift:9:2: error: first
            src/main.ts(3,5): error TS2304: Cannot find name 'x'.
            error[E0308]: mismatched types
              --> src/main.rs:4:18
               |
            4  |     let x: i32 = "a";
            main.go:7:2: undefined: y

            /w/src/a.js
              3:5  error  'x' is not defined  no-undef
              4:1  warning  Unexpected console statement  no-console

            TypeError: Cannot read properties of undefined (reading 'y')
                at f (/w/node_modules/lib/a.js:1:1)
                at g (/w/src/b.js:12:7)
            """
        #expect(
            scan(text) == [
                "a/b.swift:1 warning [unused_thing] unused (unused_thing)", "a/b.swift:9 error [error] first",
                "src/main.ts:3 error [TS2304] Cannot find name 'x'.", "src/main.rs:4 error [E0308] mismatched types",
                "/w/src/a.js:3 error [no-undef] 'x' is not defined",
                "/w/src/a.js:4 warning [no-console] Unexpected console statement",
                "/w/src/b.js:12 error [TypeError] TypeError: Cannot read properties of undefined (reading 'y')",
            ], "what says that it is an error leaves no room for what may be one")
        #expect(scan("main.go:7:2: undefined: y") == ["main.go:7 error [error] undefined: y"])
    }

    @Test(
        arguments: [
            "2026-11-21 14:03:22: error while waiting", "14:03:22 warning: late", "https://example.com:443: error: x",
            "Total Test time (real) = 0.00 sec", "done: 3 files", "see a.swift line 3", "[12:3] error", "::1:80: x",
            "    at nothing", "E", "File \"", "error in 3 files", "0 errors: none",
        ])
    func `lines that only resemble errors are ignored`(line: String) {
        #expect(scan(line).filter { !$0.hasPrefix("-") } == [])
    }

    @Test func `errors without a location are used only if there are no others`() {
        #expect(scan("error: manifest parse error\nok\n") == ["- error [error] manifest parse error"])
        #expect(scan("ld: error: x\na.c:3:1: error: y\n") == ["a.c:3 error [error] y"])
    }

    @Test func `hostile output stays within the limits`() {
        var scanner = DiagnosticScanner()
        scanner.maximumFindings = 10
        let many =
            String(repeating: "a.c:1:1: error: x\n", count: 1_000)
            + (0..<500).map { "a.c:\($0 + 1): error: y\n" }.joined()
        #expect(scanner.findings(in: Array(many.utf8)).count == 10, "one error said a thousand times is one")
        let long = "a.c:3: error: " + String(repeating: "m", count: 1 << 20)
        #expect((DiagnosticScanner().findings(in: Array(long.utf8)).first?.message.utf8.count ?? 0) <= 2_100)
        let colons = String(repeating: ":1:1", count: 200_000) + "\n" + String(repeating: "Traceback (", count: 10_000)
        #expect(DiagnosticScanner().findings(in: Array(colons.utf8)).count <= 1)
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7_919 >> 3) }
        _ = DiagnosticScanner().findings(in: bytes)
        scanner.maximumBytes = 1_000
        let ends = "a.c:1: error: head\n" + String(repeating: "x\n", count: 5_000) + "b.c:2: error: tail\n"
        #expect(scanner.findings(in: Array(ends.utf8)).map(\.file) == ["a.c", "b.c"])
    }
    @Test func `the first errors of a long log are found wherever they are`() {
        var scanner = DiagnosticScanner()
        let noise = String(repeating: "y\n", count: 2_000_000)
        let middle = noise + "Sources/a.swift:3:5: error: no such thing\n  3 | let x = y\n" + noise
        let found = scanner.findings(in: Array(middle.utf8))
        #expect(found.map(\.file) == ["Sources/a.swift"] && found.first?.line == 3)
        #expect(found.first?.excerpt == "  3 | let x = y")
        // A word that is everywhere keeps no other out.
        scanner.maximumBytes = 64 << 10
        let chatter = String(repeating: "no error: fine\n", count: 40_000)
        let crash = chatter + "\u{2718} Test a() recorded an issue at A.swift:7:3: Expectation failed: x\n" + chatter
        #expect(scanner.findings(in: Array(crash.utf8)).map(\.file) == ["A.swift"])
    }

    @Test(arguments: ["", " ", " Killed\n", " Terminated\n\n"])
    func `a test in which pytest died is unfinished`(ending: String) {
        let text = "tests/test_a.py::test_b PASSED   [ 20%]\ntests/test_a.py::T::test_c\(ending)"
        let found = UnfinishedTests.findings(in: Array(text.utf8)).compactMap(UnfinishedTests.name)
        #expect(found == ["tests/test_a.py::T::test_c"])
        #expect(UnfinishedTests.findings(in: Array("tests/test_a.py::test_b PASSED   [ 20%]\n".utf8)).isEmpty)
    }

    @Test func `passages of a long log are limited and in order`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let words = ["rror: ", "Assertion ", "\n", "x\n", "Traceback (most", " undefined reference"]
            let text = (0..<Int.random(in: 0...400, using: &random)).map { _ in
                words.randomElement(using: &random) ?? ""
            }
            let bytes = Array(text.joined().utf8)
            let maximum = Int.random(in: 0...2_000, using: &random)
            let ranges = bytes.withUnsafeBytes { LogPassages(maximumBytes: maximum).ranges(in: $0) }
            #expect(ranges.reduce(0) { $0 + $1.count } <= max(maximum, 3), "\(maximum) of \(bytes.count): \(ranges)")
            #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }, "\(ranges)")
            #expect(ranges.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= bytes.count })
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a log of a million words is scanned quickly`() {
        let clock = ContinuousClock()
        for line in [
            "y\n", "a.c:1\n", "E   x\n", "Test a started.\n", "no error: fine\n", " Test \u{1F600}a started.\n",
        ] {
            let bytes = Array(String(repeating: line, count: (32 << 20) / line.utf8.count).utf8)
            let took = clock.measure {
                _ = DiagnosticScanner().findings(in: bytes)
                _ = UnfinishedTests.findings(in: bytes)
            }
            // Without optimisation on a busy machine; it took minutes.
            #expect(took < .seconds(10), "\(line.debugDescription)")
        }
        let names = (0..<60_000).map { " Test a\($0) started.\n" }.joined()
        #expect(clock.measure { _ = UnfinishedTests.findings(in: Array(names.utf8)) } < .seconds(10))
    }
}
