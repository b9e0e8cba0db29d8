import TestIntegrity

/// The ways in which a change may weaken tests; docs/integrity.md has the same list in words.
extension Weakening {
    private static let plain = xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }")
    private static let sums = "#expect(sum(1, 2) == 3)\n#expect(sum(0, 0) == 0)"

    static let inTests: [Weakening] = [
        file("delete a test", suite("@Test func sums() { #expect(sum(1, 2) == 3) }"), suite(""), line: 4),
        file(
            "delete a file", suite("@Test func sums() { #expect(sum(1, 2) == 3) }"), "", line: 4),
        file(
            "replace a test by another one under its name's neighbour",
            suite("@Test func sums() { #expect(sum(1, 2) == 3); #expect(sum(4, 5) == 9) }"),
            suite("@Test func loads() { let page = Page(); #expect(page.title == \"x\") }")),
        file(
            "rename so that the runner does not find it",
            xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("func xtestSums() { XCTAssertEqual(sum(1, 2), 3) }"), line: 4),
        file(
            "make an XCTest private", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("private func testSums() { XCTAssertEqual(sum(1, 2), 3) }")),
        file(
            "give an XCTest a parameter", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("func testSums(_ on: Bool) { XCTAssertEqual(sum(1, 2), 3) }")),
        file(
            "take the class out of XCTest", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }", head: "final class SumTests {")),
        file(
            "available nowhere yet", suite("@Test func sums() { \(sums) }"),
            suite("@available(macOS 99, *)\n@Test func sums() { \(sums) }"), .person, .skippedTest, line: 5),
        file(
            "skip in setUp", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest(
                "override func setUpWithError() throws { throw XCTSkip() }\nfunc testSums() { XCTAssertEqual(sum(1, 2), 3) }"
            ), .caught, .skippedTest),
        file(
            "tests that are not invoked", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("override func invokeTest() {}\nfunc testSums() { XCTAssertEqual(sum(1, 2), 3) }"), .caught,
            .skippedTest),
        file(
            "an empty default suite", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest(
                "override class var defaultTestSuite: XCTestSuite { XCTestSuite(name: \"x\") }\nfunc testSums() { XCTAssertEqual(sum(1, 2), 3) }"
            ), .caught, .skippedTest),
        file(
            "an assertion of XCTest is hidden", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }")
                + "\nfunc XCTAssertEqual<T>(_ one: T, _ other: T) {}\n", .person, .weakerTest),
        file(
            "an assertion of XCTest is hidden in the test's own body",
            xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("func testSums() { let XCTAssertEqual = { (a: Int, b: Int) in }; XCTAssertEqual(sum(1, 2), 3) }"),
            .person, .weakerTest),
        file(
            "an operator that assertions compare with",
            suite("@Test func sums() { #expect(sum(1, 2) == 3) }"),
            suite("@Test func sums() { #expect(sum(1, 2) == 3) }")
                + "\nfunc == (one: Int, other: Int) -> Bool { true }\n", .person, .weakerTest),
        file(
            "setUp ends the process", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("override func setUp() { exit(0) }\nfunc testSums() { XCTAssertEqual(sum(1, 2), 3) }"), .caught,
            .skippedTest),
        file(
            "failures are not recorded", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest(
                "override func record(_ issue: XCTIssue) { print(super.name) }\nfunc testSums() { XCTAssertEqual(sum(1, 2), 3) }"
            ), .caught, .skippedTest),
        file(
            "remove the attribute @Test", suite("@Test func sums() { #expect(sum(1, 2) == 3) }"),
            suite("func sums() { #expect(sum(1, 2) == 3) }")),
        file(
            "skip trait", suite("@Test func sums() { \(sums) }"),
            suite("@Test(.disabled(\"slow\")) func sums() { \(sums) }"),
            .caught, .skippedTest, line: 4),
        file(
            "skip trait with a condition", suite("@Test func sums() { \(sums) }"),
            suite("@Test(.disabled(if: isCI)) func sums() { \(sums) }"), .caught, .skippedTest),
        file(
            "enabled only if", suite("@Test func sums() { \(sums) }"),
            suite("@Test(.enabled(if: ProcessInfo.runsSlowTests)) func sums() { \(sums) }"), .caught, .skippedTest),
        file(
            "skip the whole suite", suite("@Test func sums() { \(sums) }"),
            suite("@Test func sums() { \(sums) }").replacing("@Suite", with: "@Suite(.disabled())"), .caught,
            .skippedTest),
        file(
            "XCTSkip", xctest("func testSums() throws { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("func testSums() throws { throw XCTSkip(\"later\")\nXCTAssertEqual(sum(1, 2), 3) }"), .caught,
            .skippedTest),
        file(
            "XCTSkipIf", xctest("func testSums() throws { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest("func testSums() throws { try XCTSkipIf(isCI)\nXCTAssertEqual(sum(1, 2), 3) }"), .caught,
            .skippedTest),
        file(
            "comment out", suite("@Test func sums() { \(sums) }"),
            suite("// @Test func sums() { #expect(sum(1, 2) == 3) }")),
        file(
            "comment out over lines, with a comment inside", suite("@Test func sums() { \(sums) }"),
            suite("/* /* why */ @Test func sums() { \(sums) } */")),
        file(
            "#if false", suite("@Test func sums() { \(sums) }"),
            suite("#if false\n@Test func sums() { \(sums) }\n#endif")),
        file(
            "#if false, spelled out", suite("@Test func sums() { \(sums) }"),
            suite("#if DEBUG && !(true)\n@Test func sums() { \(sums) }\n#endif")),
        file(
            "the other branch of #if true", suite("@Test func sums() { \(sums) }"),
            suite("#if true\n#else\n@Test func sums() { \(sums) }\n#endif")),
        file(
            "a condition that nobody sets", suite("@Test func sums() { \(sums) }"),
            suite("#if SLOW_TESTS\n@Test func sums() { \(sums) }\n#endif"), .person, .skippedTest),
        file(
            "fewer cases", suite("@Test(arguments: [1, 2, 3]) func doubles(n: Int) { #expect(double(n) == n + n) }"),
            suite("@Test(arguments: [1]) func doubles(n: Int) { #expect(double(n) == n + n) }"), .caught, .fewerCases,
            line: 4),
        file(
            "fewer cases, in a constant",
            suite(
                "static let numbers = [1, 2, 3]\n@Test(arguments: numbers) func doubles(n: Int) { #expect(double(n) == n + n) }"
            ),
            suite(
                "static let numbers = [1]\n@Test(arguments: numbers) func doubles(n: Int) { #expect(double(n) == n + n) }"
            ),
            .caught, .fewerCases),
        file(
            "cases that can't be counted",
            suite("@Test(arguments: [1, 2, 3]) func doubles(n: Int) { #expect(double(n) == n + n) }"),
            suite("@Test(arguments: some()) func doubles(n: Int) { #expect(double(n) == n + n) }"), .person, .fewerCases
        ),
        file(
            "cases zipped with a shorter list",
            suite("@Test(arguments: [1, 2], [3, 4]) func adds(a: Int, b: Int) { #expect(sum(a, b) == a + b) }"),
            suite("@Test(arguments: zip([1, 2], [3])) func adds(a: Int, b: Int) { #expect(sum(a, b) == a + b) }"),
            .caught,
            .fewerCases),
        file(
            "a test's time limit is widened", suite("@Test(.timeLimit(.minutes(1))) func sums() { \(sums) }"),
            suite("@Test(.timeLimit(.minutes(10))) func sums() { \(sums) }"), .caught, .widerTolerance),
        file(
            "a file that ends in a string", suite("@Test func sums() { \(sums) }"),
            suite("@Test func sums() { \(sums) }\nlet x = \"open"),
            .person, .unreadable),
        // No compiler accepts it: each branch of an #if must be whole.
        file(
            "braces that are split over branches", suite("@Test func sums() { \(sums) }"),
            suite("#if compiler(>=6)\n@Test func sums() {\n#else\n@Test func sums() throws {\n#endif\n\(sums) }"),
            .person, .unreadable),
    ]

    static let inBodies: [Weakening] = [
        body("in a closure that nobody calls", sums, "let check = { \(sums) }"),
        body("in a closure that is dropped", sums, "_ = { \(sums) }"),
        body("in a function that nobody calls", sums, "func check() { \(sums) }"),
        body("the process ends well before", sums, "exit(0)\n\(sums)"),
        body("the process may end well before", sums, "if isCI { exit(EXIT_SUCCESS) }\n\(sums)"),
        body("delete an assertion", sums, "#expect(sum(1, 2) == 3)"),
        body("delete all assertions", sums, "_ = sum(1, 2)\n_ = sum(0, 0)"),
        body("empty the body", sums, ""),
        body("empty a body that only calls", "try check(sums)", ""),
        body("== becomes != nil", sums, "#expect(sum(1, 2) != nil)\n#expect(sum(0, 0) == 0)"),
        body("== becomes >", sums, "#expect(sum(1, 2) > 0)\n#expect(sum(0, 0) == 0)"),
        body("#expect(true)", sums, "#expect(true)\n#expect(sum(0, 0) == 0)"),
        body("#expect(Bool(true))", sums, "#expect(Bool(true))\n#expect(sum(0, 0) == 0)"),
        body("compare a value with itself", sums, "let s = sum(1, 2)\n#expect(s == s)\n#expect(sum(0, 0) == 0)"),
        body("compare literals", sums, "#expect(3 == 3)\n#expect(sum(0, 0) == 0)"),
        body("or true", sums, "#expect(sum(1, 2) == 3 || true)\n#expect(sum(0, 0) == 0)"),
        body("count >= 0", "#expect(list.count == 3)", "#expect(list.count >= 0)"),
        body("early return", sums, "return\n\(sums)"),
        body("early return under a condition", sums, "if isCI { return }\n\(sums)"),
        body("guard that leaves silently", sums, "guard let host else { return }\n\(sums)"),
        body("behind if", sums, "if isFast {\n\(sums)\n}"),
        body("behind if false", sums, "if false {\n\(sums)\n}"),
        body("behind #if in the body", sums, "#if os(Windows)\n\(sums)\n#endif"),
        body("in a loop without rounds", sums, "for _ in 0..<0 {\n\(sums)\n}"),
        body(
            "fewer rounds", "for n in 0..<1_000 { #expect(sum(n, 0) == n) }",
            "for n in 0..<10 { #expect(sum(n, 0) == n) }"),
        body(
            "a shorter table", "for n in [1, 2, 3, 4] { #expect(sum(n, 0) == n) }",
            "for n in [1] { #expect(sum(n, 0) == n) }"),
        body("withKnownIssue", sums, "withKnownIssue {\n\(sums)\n}"),
        body(
            "XCTExpectFailure", "XCTAssertEqual(sum(1, 2), 3)",
            "XCTExpectFailure(\"later\")\nXCTAssertEqual(sum(1, 2), 3)"),
        body("try? before an unwrapping", "_ = try #require(first())", "_ = try? #require(first())"),
        body("try? instead of try", "try load()\n#expect(count == 1)", "try? load()\n#expect(count == 1)"),
        body(
            "errors are caught and dropped", "try load()\n#expect(count == 1)",
            "do { try load() } catch {}\n#expect(count == 1)"),
        body(
            "any error will do", "#expect(throws: ParseError.empty) { try parse() }",
            "#expect(throws: (any Error).self) { try parse() }"),
        body(
            "XCTFail is gone", "if broken { XCTFail(\"broken\") }\n#expect(n == 1)",
            "if broken { print(\"broken\") }\n#expect(n == 1)"),
        body("a sleep", sums, "try await Task.sleep(for: .seconds(1))\n\(sums)", .caught, .addedSleep),
        body("a sleep of the thread", sums, "usleep(100_000)\n\(sums)", .caught, .addedSleep),
        body(
            "a wider accuracy", "XCTAssertEqual(root(2), 1.41421, accuracy: 0.00001)",
            "XCTAssertEqual(root(2), 1.41421, accuracy: 0.5)", .caught, .widerTolerance),
        body(
            "an accuracy where there was none", "XCTAssertEqual(root(4), 2)",
            "XCTAssertEqual(root(4), 2, accuracy: 0.5)", .caught,
            .widerTolerance),
        body(
            "a longer time-out", "await fulfillment(of: [done], timeout: 1)",
            "await fulfillment(of: [done], timeout: 30)", .caught,
            .widerTolerance),
        body("another expected value", sums, "#expect(sum(1, 2) == 4)\n#expect(sum(0, 0) == 0)", .unseen, nil),
        body("other input", sums, "#expect(sum(0, 3) == 3)\n#expect(sum(0, 0) == 0)", .unseen, nil),
        body(
            "what is called is a fake now", "let s = Store()\n#expect(s.load() == 1)",
            "let s = FakeStore()\n#expect(s.load() == 1)", .unseen, nil),
    ]

    static let inOtherFiles: [Weakening] = [
        files(
            "an assertion of XCTest is hidden by one in the sources", ["Tests/SumTests/SumTests.swift": plain],
            [
                "Tests/SumTests/SumTests.swift": plain,
                "Sources/Sum/Sum.swift":
                    "public func XCTAssertEqual<T: Equatable>(_ one: T, _ other: T) {}\npublic func sum(_ a: Int, _ b: Int) -> Int { 0 }\n",
            ], .person, .weakerTest),
        files(
            "a type of XCTest is hidden by one in the sources", ["Tests/SumTests/SumTests.swift": plain],
            [
                "Tests/SumTests/SumTests.swift": plain,
                "Sources/Sum/Sum.swift": "open class XCTestCase {\n    public init() {}\n}\n",
            ], .person, .weakerTest),
        files(
            "a macro of Swift Testing is hidden by one in the sources", ["Tests/SumTests/SumTests.swift": plain],
            [
                "Tests/SumTests/SumTests.swift": plain,
                "Sources/Sum/Macros.swift":
                    "@freestanding(expression) public macro expect(_ x: Bool) = #externalMacro(module: \"M\", type: \"E\")\n",
            ], .person, .weakerTest),
        files(
            "a base class in a new file invokes no test", ["Tests/SumTests/SumTests.swift": plain],
            [
                "Tests/SumTests/SumTests.swift": plain.replacing(": XCTestCase", with: ": Quiet"),
                "Tests/SumTests/Quiet.swift":
                    "import XCTest\nclass Quiet: XCTestCase { override func invokeTest() {} }\n",
            ], .caught, .skippedTest),
        files(
            "a base class two files away runs no test", ["Tests/SumTests/SumTests.swift": plain],
            [
                "Tests/SumTests/SumTests.swift": plain.replacing(": XCTestCase", with: ": Calm"),
                "Tests/SumTests/Calm.swift": "class Calm: Quiet {}\n",
                "Tests/SumTests/Quiet.swift":
                    "import XCTest\nclass Quiet: XCTestCase { override func run() {} }\n",
            ], .caught, .skippedTest),
        files(
            "another base class, which was there before, skips in setUp",
            [
                "Tests/SumTests/SumTests.swift": plain,
                "Tests/Support/Slow.swift":
                    "import XCTest\nclass Slow: XCTestCase { override func setUpWithError() throws { try XCTSkipIf(isCI) } }\n",
            ],
            [
                "Tests/SumTests/SumTests.swift": plain.replacing(": XCTestCase", with: ": Slow"),
                "Tests/Support/Slow.swift":
                    "import XCTest\nclass Slow: XCTestCase { override func setUpWithError() throws { try XCTSkipIf(isCI) } }\n",
            ], .caught, .skippedTest),
        files(
            "a base class in the sources has no test suite", ["Tests/SumTests/SumTests.swift": plain],
            [
                "Tests/SumTests/SumTests.swift": plain.replacing(": XCTestCase", with: ": Quiet"),
                "Sources/Support/Quiet.swift":
                    "import XCTest\nopen class Quiet: XCTestCase { override open class var defaultTestSuite: XCTestSuite { XCTestSuite(name: \"x\") } }\n",
            ], .caught, .skippedTest),
        files(
            "a base class that is not there", ["Tests/SumTests/SumTests.swift": plain],
            ["Tests/SumTests/SumTests.swift": plain.replacing(": XCTestCase", with: ": Foreign")], .person,
            .skippedTest),
        files(
            "a helper asserts less",
            [
                "Tests/SumTests/Helpers.swift":
                    "import Testing\nfunc expectSum(_ a: Int) {\n#expect(sum(a) == a)\n#expect(a > 0)\n}",
                "Tests/SumTests/SumTests.swift": suite("@Test func sums() { expectSum(3) }"),
            ],
            [
                "Tests/SumTests/Helpers.swift": "import Testing\nfunc expectSum(_ a: Int) {\n#expect(a > 0)\n}",
                "Tests/SumTests/SumTests.swift": suite("@Test func sums() { expectSum(3) }"),
            ], .caught, .weakerTest),
        files(
            "exclude in Package.swift",
            ["Package.swift": manifest(""), "Tests/SumTests/SumTests.swift": suite("")],
            ["Package.swift": manifest(", exclude: [\"SumTests.swift\"]"), "Tests/SumTests/SumTests.swift": suite("")],
            .caught, .hiddenTests),
        files(
            "sources in Package.swift",
            ["Package.swift": manifest(""), "Tests/SumTests/SumTests.swift": suite("")],
            ["Package.swift": manifest(", sources: [\"Other.swift\"]"), "Tests/SumTests/SumTests.swift": suite("")],
            .caught, .hiddenTests),
        files(
            "the test target is gone",
            ["Package.swift": manifest(""), "Tests/SumTests/SumTests.swift": suite("")],
            [
                "Package.swift": "let package = Package(name: \"a\", targets: [])",
                "Tests/SumTests/SumTests.swift": suite(""),
            ],
            .caught, .hiddenTests),
        files(
            "a filter in the script", ["script/test": "swift test\n"], ["script/test": "swift test --skip SumTests\n"],
            .person, .hiddenTests),
        files(
            "a filter in pytest's settings", ["pytest.ini": "[pytest]\naddopts = -q\n"],
            ["pytest.ini": "[pytest]\naddopts = -q --deselect tests/test_sum.py\n"], .person, .hiddenTests),
        files(
            "failures are ignored", ["Makefile": "test:\n\tswift test\n"],
            ["Makefile": "test:\n\tswift test || true\n"], .person,
            .hiddenTests),
        files(
            "only a snapshot is edited", ["Tests/__Snapshots__/page.txt": "1\n"],
            ["Tests/__Snapshots__/page.txt": "2\n"], .caught,
            .loneSnapshot),
        files(
            "delete a test in Python",
            [
                "tests/test_sum.py":
                    "def test_sum():\n    assert total([1, 2]) == 3\n\ndef test_more():\n    assert total([]) == 0\n"
            ],
            ["tests/test_sum.py": "def test_more():\n    assert total([]) == 0\n"], .caught, .removedTest),
        files(
            "make the last test in Python a helper",
            [
                "tests/test_sum.py":
                    "def test_sum():\n    assert total([1, 2]) == 3\n\n\ndef test_more():\n    all = [4, 5]\n    assert total(all) == 9\n"
            ],
            [
                "tests/test_sum.py":
                    "def test_sum():\n    assert total([1, 2]) == 3\n\n\ndef more():\n    all = [4, 5]\n    assert total(all) == 9\n"
            ], .caught, .removedTest),
        files(
            "make a test in Rust a helper",
            [
                "tests/sum.rs":
                    "#[test]\nfn sums() {\n    assert_eq!(sum(1, 2), 3);\n}\n\n#[test]\nfn more() {\n    let all = [4, 5];\n    assert_eq!(total(all), 9);\n}\n"
            ],
            [
                "tests/sum.rs":
                    "#[test]\nfn sums() {\n    assert_eq!(sum(1, 2), 3);\n}\n\nfn more() {\n    let all = [4, 5];\n    assert_eq!(total(all), 9);\n}\n"
            ], .caught, .removedTest),
        files(
            "delete a test from a file of Windows",
            [
                "tests/test_sum.py":
                    "def test_sum():\r\n    assert total([1, 2]) == 3\r\n\r\ndef test_more():\r\n    assert total([]) == 0\r\n"
            ],
            ["tests/test_sum.py": "def test_sum():\r\n    assert total([1, 2]) == 3\r\n"], .caught, .removedTest),
        files(
            "skip a test in Python", ["tests/test_sum.py": "def test_sum():\n    assert total([1, 2]) == 3\n"],
            [
                "tests/test_sum.py":
                    "@pytest.mark.skip(reason='later')\ndef test_sum():\n    assert total([1, 2]) == 3\n"
            ], .caught,
            .skippedTest),
        files(
            "ignore a test in Rust", ["tests/sum.rs": "#[test]\nfn sums() {\n    assert_eq!(sum(1, 2), 3);\n}\n"],
            ["tests/sum.rs": "#[test]\n#[ignore]\nfn sums() {\n    assert_eq!(sum(1, 2), 3);\n}\n"], .caught,
            .skippedTest),
        files(
            "skip a test in Go", ["sum_test.go": "func TestSum(t *testing.T) {\n\tif sum(1, 2) != 3 { t.Fail() }\n}\n"],
            ["sum_test.go": "func TestSum(t *testing.T) {\n\tt.Skip(\"later\")\n\tif sum(1, 2) != 3 { t.Fail() }\n}\n"],
            .caught,
            .skippedTest),
        files(
            "skip a test in JavaScript", ["src/sum.test.ts": "test('sums', () => { expect(sum(1, 2)).toBe(3) })\n"],
            ["src/sum.test.ts": "test.skip('sums', () => { expect(sum(1, 2)).toBe(3) })\n"], .caught, .skippedTest),
        files(
            "an assertion of another language is weaker",
            ["tests/test_sum.py": "def test_sum():\n    assert total([1, 2]) == 3\n"],
            ["tests/test_sum.py": "def test_sum():\n    assert total([1, 2])\n"], .unseen, nil),
    ]

    private static func manifest(_ settings: String) -> String {
        """
        // swift-tools-version: 6.0
        import PackageDescription
        let package = Package(
            name: "a",
            targets: [.target(name: "Sum"), .testTarget(name: "SumTests", dependencies: ["Sum"]\(settings))])
        """
    }
}
