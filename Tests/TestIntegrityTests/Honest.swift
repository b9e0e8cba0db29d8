import TestIntegrity

/// Changes that keep tests as strong as they were: none of them may be a breach.
extension Weakening {
    private static func honest(_ name: String, _ old: String, _ new: String) -> Weakening {
        file(name, suite(old), suite(new), .unseen, nil)
    }

    private static let based =
        "import XCTest\nclass Base: XCTestCase { override func setUp() { super.setUp(); start() } }\n"
    private static func derived(_ base: String, more: String = "") -> String {
        xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }\n\(more)", head: "final class SumTests: \(base) {")
    }

    static let honest: [Weakening] = [
        files(
            "a base class gets a file of its own",
            ["Tests/SumTests/SumTests.swift": based + derived("Base")],
            ["Tests/SumTests/SumTests.swift": derived("Base"), "Tests/SumTests/Base.swift": based], .unseen, nil),
        files(
            "a base class that was there and runs its tests",
            ["Tests/SumTests/SumTests.swift": derived("XCTestCase"), "Tests/Support/Base.swift": based],
            ["Tests/SumTests/SumTests.swift": derived("Base"), "Tests/Support/Base.swift": based], .unseen, nil),
        files(
            "a base class of another package stays", ["Tests/SumTests/SumTests.swift": derived("Foreign")],
            ["Tests/SumTests/SumTests.swift": derived("Foreign", more: "func testMore() { XCTAssertTrue(ok) }")],
            .unseen, nil),
        files(
            "sources that speak of XCTest", ["Sources/Sum/Sum.swift": "// XCTAssertEqual\n"],
            [
                "Sources/Sum/Sum.swift":
                    "// XCTAssertEqual\nfunc == (one: Sum, other: Sum) -> Bool { true }\nfunc record(XCTestRun: Int) {}\nlet text = \"func XCTFail()\"\nfunc XCTAssertClose() { XCTAssertEqual(1, x) }\nstruct Test {}\nfunc expect() {}\n"
            ], .unseen, nil),
        files(
            "an overload of an assertion moves to another file",
            ["Tests/SumTests/A.swift": "func XCTAssertEqual(_ a: Sum, _ b: Sum) { XCTAssertEqual(a.n, b.n) }\n"],
            [
                "Tests/SumTests/A.swift": "// moved\n",
                "Tests/SumTests/B.swift": "func XCTAssertEqual(_ a: Sum, _ b: Sum) { XCTAssertEqual(a.n, b.n) }\n",
            ], .unseen, nil),
        honest(
            "assertions move into a closure that is called", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func sums() { let check = { #expect(sum(1, 2) == 3) }\ncheck() }"),
        honest(
            "assertions move into a function that is called", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func sums() { func check() { #expect(sum(1, 2) == 3) }\ncheck() }"),
        honest(
            "assertions move into a closure that is called at once", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func sums() { let done: Void = { #expect(sum(1, 2) == 3) }()\n_ = done }"),
        file(
            "tests are invoked in a frame", xctest("func testSums() { XCTAssertEqual(sum(1, 2), 3) }"),
            xctest(
                "override func invokeTest() { withDependencies { super.invokeTest() } }\nfunc testSums() { XCTAssertEqual(sum(1, 2), 3) }"
            ), .unseen, nil),
        honest(
            "another layout", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test\nfunc sums() {\n    #expect(\n        sum(1, 2) == 3)\n}"),
        honest(
            "a new name", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func addsTwoNumbers() { #expect(sum(1, 2) == 3) }"),
        honest(
            "more assertions", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func sums() { #expect(sum(1, 2) == 3)\n#expect(sum(2, 2) == 4) }"),
        honest(
            "three assertions become a table",
            "@Test func sums() { #expect(sum(1) == 1)\n#expect(sum(2) == 2)\n#expect(sum(3) == 3) }",
            "@Test func sums() { for n in [1, 2, 3] { #expect(sum(n) == n) } }"),
        honest(
            "three assertions become a table with a name",
            "@Test func sums() { #expect(sum(1) == 1)\n#expect(sum(2) == 2)\n#expect(sum(3) == 3) }",
            "@Test func sums() { let cases: [(Int, Int)] = [(1, 1), (2, 2), (3, 3)]\nfor (n, m) in cases { #expect(sum(n) == m) } }"
        ),
        honest(
            "three tests become one with arguments",
            "@Test func one() { #expect(double(1) == 2) }\n@Test func two() { #expect(double(2) == 4) }\n@Test func three() { #expect(double(3) == 6) }",
            "@Test(arguments: [(1, 2), (2, 4), (3, 6)]) func doubles(n: Int, twice: Int) { #expect(double(n) == twice) }"
        ),
        honest(
            "assertions move into a helper", "@Test func sums() { #expect(sum(1) == 1)\n#expect(sum(2) == 2) }",
            "@Test func sums() { compare([1, 2]) }\nfunc compare(_ n: [Int]) { #expect(sum(n[0]) == 1)\n#expect(sum(n[1]) == 2) }"
        ),
        file(
            "XCTest becomes Swift Testing",
            xctest(
                "func testSums() throws { XCTAssertEqual(sum(1, 2), 3)\nXCTAssertTrue(list.isEmpty)\nlet x = try XCTUnwrap(first())\nXCTAssertNil(x.next) }"
            ),
            suite(
                "@Test func sums() throws { #expect(sum(1, 2) == 3)\n#expect(list.isEmpty)\nlet x = try #require(first())\n#expect(x.next == nil) }"
            )
            .replacing(
                "func differs() { #expect(difference(7, 2) == 5) }",
                with: "func differs() { #expect(difference(7, 2) == 5) }"),
            .unseen, nil),
        honest(
            "do, catch and a failure become #expect(throws:)",
            "@Test func fails() { do { try parse(\"\")\nXCTFail(\"no error\") } catch { XCTAssertEqual(error as? E, E.empty) } }",
            "@Test func fails() { #expect(throws: E.empty) { try parse(\"\") } }"),
        honest(
            "guard and a failure become #require",
            "@Test func finds() { guard let x = find(3) else { return XCTFail(\"nothing\") }\n#expect(x == 3) }",
            "@Test func finds() throws { let x = try #require(find(3))\n#expect(x == 3) }"),
        honest(
            "count == 0 becomes isEmpty", "@Test func empties() { #expect(list.count == 0) }",
            "@Test func empties() { #expect(list.isEmpty) }"),
        honest(
            "equal to nil becomes a check for nil", "@Test func none() { XCTAssertEqual(find(9), nil) }",
            "@Test func none() { XCTAssertNil(find(9)) }"),
        honest(
            "a skip goes away", "@Test(.disabled(\"slow\")) func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func sums() { #expect(sum(1, 2) == 3) }"),
        honest(
            "a stricter accuracy", "@Test func root() { XCTAssertEqual(root(2), 1.41, accuracy: 0.1) }",
            "@Test func root() { XCTAssertEqual(root(2), 1.41, accuracy: 0.01) }"),
        honest(
            "a shorter time limit", "@Test(.timeLimit(.minutes(5))) func sums() { #expect(sum(1, 2) == 3) }",
            "@Test(.timeLimit(.minutes(1))) func sums() { #expect(sum(1, 2) == 3) }"),
        honest(
            "a comment and words like assertions in strings", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func sums() { // #expect(true)\nlet s = \"XCTSkip() \\(\"}\" + \"#if false\")\"\n#expect(sum(1, 2) == 3, \"\\(s)\") }"
        ),
        honest(
            "a regular expression with quotes and braces", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func sums() { let r = /\"{/\n#expect(sum(1, 2) == 3)\n_ = r }"),
        honest(
            "raw strings", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "@Test func sums() { let r = #\"\"\"\n a \" \\( {{{ \"#\n\"\"\"#\n#expect(sum(1, 2) == 3)\n_ = r }"),
        honest(
            "a suite's name and place", "@Suite struct Inner { @Test func sums() { #expect(sum(1, 2) == 3) } }",
            "@Suite struct Additions { @Suite struct Inner { @Test func sums() { #expect(sum(1, 2) == 3) } } }"),
        honest("new tests", "", "@Test func sums() { #expect(sum(1, 2) == 3) }"),
        honest(
            "a condition falls away", "#if os(Linux)\n@Test func sums() { #expect(sum(1, 2) == 3) }\n#endif",
            "@Test func sums() { #expect(sum(1, 2) == 3) }"),
        honest(
            "both branches stay", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "#if os(Linux)\n@Test func sums() { #expect(sum(1, 2) == 3) }\n#else\n@Test func sums() { #expect(sum(1, 2) == 3) }\n#endif"
        ),
        honest(
            "a branch of its own for each compiler", "@Test func sums() { #expect(sum(1, 2) == 3) }",
            "#if compiler(>=6)\n@Test func sums() { #expect(sum(1, 2) == 3) }\n#else\n@Test func sums() throws { #expect(sum(1, 2) == 3) }\n#endif"
        ),
        honest(
            "a counter of rounds rises", "@Test func sums() { for n in 0..<10 { #expect(sum(n) == n) } }",
            "@Test func sums() { for n in 0..<100 { #expect(sum(n) == n) } }"),
        files(
            "a test moves to another file",
            ["Tests/A/OneTests.swift": suite("@Test func sums() { #expect(sum(1, 2) == 3) }")],
            [
                "Tests/A/OneTests.swift": suite(""),
                "Tests/A/TwoTests.swift":
                    "import Testing\n@Suite struct SumTests { @Test func sums() { #expect(sum(1, 2) == 3) } }",
            ], .unseen, nil),
        files(
            "assertions move to a helper that is there",
            [
                "Tests/A/Helper.swift":
                    "import Testing\nfunc same(_ a: [Int]) {\n#expect(sum(a[0]) == 1)\n#expect(sum(a[1]) == 2) }",
                "Tests/A/OneTests.swift": suite("@Test func sums() { #expect(sum(1) == 1)\n#expect(sum(2) == 2) }"),
            ],
            [
                "Tests/A/Helper.swift":
                    "import Testing\nfunc same(_ a: [Int]) {\n#expect(sum(a[0]) == 1)\n#expect(sum(a[1]) == 2) }",
                "Tests/A/OneTests.swift": suite("@Test func sums() { same([1, 2]) }"),
            ], .unseen, nil),
        files(
            "a snapshot changes with its source", ["Sources/A/a.swift": "1", "Tests/__Snapshots__/a.txt": "1"],
            ["Sources/A/a.swift": "2", "Tests/__Snapshots__/a.txt": "2"], .unseen, nil),
        files(
            "resources are excluded",
            ["Package.swift": "let p = Package(targets: [.testTarget(name: \"A\")])", "Tests/A/a.swift": suite("")],
            [
                "Package.swift": "let p = Package(targets: [.testTarget(name: \"A\", exclude: [\"Fixtures\"])])",
                "Tests/A/a.swift": suite(""), "Tests/A/Fixtures/x.txt": "",
            ],
            .unseen, nil),
        files(
            "a test of Python under another name",
            ["tests/test_sum.py": "def test_sum():\n    assert total([1, 2]) == 3\n"],
            ["tests/test_sum.py": "def test_total_of_two():\n    assert total([1, 2]) == 3\n"], .unseen, nil),
        files(
            "a script without filters", ["script/test": "swift test\n"], ["script/test": "swift test --parallel\n"],
            .unseen, nil),
    ]
}
