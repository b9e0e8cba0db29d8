import Pipeline
import Results
import Testing

@testable import TestShards

struct ListedTestsTests {
    private let known = [
        KnownTest(suite: "tests.test_a.TestX", name: "test_b", seconds: 1),
        KnownTest(suite: "tests.test_a.TestX", name: "test_c[1-2]", seconds: 2),
        KnownTest(suite: "tests.test_a.TestX", name: "test_c[3]", seconds: 4),
        KnownTest(suite: "Module.Suite", name: "other()", file: "/build/Tests/SuiteTests.swift", seconds: 8),
        KnownTest(suite: "describes", name: "a thing", file: "src/thing.test.js", seconds: 16),
        KnownTest(suite: "describes", name: "another thing", file: "src/thing.test.js", seconds: 32),
        KnownTest(suite: "linux", name: "unit/parser", seconds: 64),
        KnownTest(suite: "one", name: "same", seconds: 1), KnownTest(suite: "two", name: "same", seconds: 1),
        KnownTest(suite: "s", name: "endless", seconds: .infinity),
    ]

    @Test(
        arguments: [
            ("tests/test_a.py::TestX::test_b", 1), ("tests/test_a.py::TestX::test_c", 6),
            ("tests/test_a.py::TestX::test_c[3]", 4), ("tests/test_a.py", 7), ("tests/test_a.py::TestX", 7),
            ("Module.Suite/other()", 8), ("Tests/SuiteTests.swift", 8), ("src/thing.test.js", 48), ("unit/parser", 64),
            ("same", nil), ("absent", nil), ("s/endless", nil), ("...", nil),
        ] as [(String, Double?)])
    func `a line is found in the reports of earlier runs`(line: String, seconds: Double?) {
        #expect(ListedTests.seconds(of: [line, "x"], knowing: known) == [seconds, nil])
    }

    @Test func `the list is bounded`() throws {
        #expect(try TestList(Array("b \r\n\n a\nb\n".utf8)).tests == ["b", "a"])
        #expect(throws: TestListProblem.self) { try TestList([]) }
        #expect(throws: TestListProblem.self) { try TestList([0xFF, 0x0A]) }
        #expect(throws: TestListProblem.self) { try TestList(Array("a\u{1B}[2J\n".utf8)) }
        #expect(throws: TestListProblem.self) { try TestList(Array(repeating: 0x61, count: 5_000)) }
    }

    @Test func `the times are those of the last three runs, and tests that are gone are forgotten`() {
        func result(_ name: String, _ seconds: Double, attempt: Int = 1) -> TestResult {
            TestResult(suite: "S", name: name, status: .passed, duration: seconds, attempt: attempt)
        }
        var times = TestTimes()
        for seconds in [100.0, 1, 3, 2] { times.add([result("a", seconds)]) }
        #expect(times.known.map(\.seconds) == [2])
        // Of a test that was tried again, the last try counts, with all its cases.
        times.add([result("b", 7), result("b", 1, attempt: 2), result("b", 2, attempt: 2)])
        #expect(times.tests["S/b"]?.seconds == [3])
        for _ in 0..<20 { times.add([result("b", 3)]) }
        #expect(Array(times.tests.keys) == ["S/b"])
        times.add([result("b", .nan), TestResult(suite: "S", name: "c", status: .skipped, duration: 1)])
        #expect(times.tests["S/b"]?.seconds.count == 3 && times.tests["S/c"] == nil)
    }
}
