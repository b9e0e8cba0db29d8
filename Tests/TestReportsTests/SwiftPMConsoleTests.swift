@testable import Results
import TestReports
import Testing

@Suite struct SwiftPMConsoleTests {
    @Test func `a whole run is read`() throws {
        let results = try Fixture.results("swiftpm-console.txt")
        #expect(results.tally == "8/11/3/4/1")
        #expect(results.findings.isEmpty)
        #expect(results["testFails"]?.place == "/build/demo/Tests/DemoTests/XTests.swift:9")
        #expect(results["testFails"]?.details?.contains("XCTAssertTrue failed") == true)
        #expect(results["testPrints"]?.message == "failed - mehrzeilig\nzweite Zeile → ü")
        #expect(results["testSkips"]?.message == "no network here")
        #expect(results["testThrows"]?.status == .errored)
        #expect(results["testSlow"]?.duration == 0.12)
        #expect(results["pairs(text:flag:)"]?.message?.contains("flag → false") == true)
        #expect(results["knownButFine()"]?.message == "Known issue was not recorded\nused to fail")
        #expect(results["known()"]?.status == .expectedFailure)
        #expect(results["cancels()"]?.status == .skipped)
        #expect(results["a raw name"]?.place == "STests.swift:28")
    }

    @Test func `a test can't print another test's result`() throws {
        #expect(try Fixture.results("swiftpm-console.txt")["test"] == nil)
    }

    @Test func `colours and the format of macOS are read`() throws {
        let colours = try Fixture.results("swift-testing-colours.txt")
        #expect(colours.tally == "1/1/0/0/0")
        #expect(colours["bad(n:)"]?.place == "STests.swift:13")
        let mac = try Fixture.results("swiftpm-console-macos.txt")
        #expect(mac.tests.map(\.suite) == ["DemoTests.XTests", "DemoTests.XTests", "DemoTests.XTests"])
        #expect(mac.tests.map(\.status) == [.failed, .expectedFailure, .errored])
        #expect(mac["testCrashes"]?.place == "/build/demo/Tests/DemoTests/XTests.swift:31")
        #expect(mac["testCrashes"]?.message?.contains("Index out of range") == true)
    }

    @Test func `two tests of one name are not two tries`() {
        let text = """
            Test run started.
            ◇ Test a() started.
            ✘ Test a() failed after 0.001 seconds with 1 issue.
            ◇ Test a() started.
            ✔ Test a() passed after 0.001 seconds.
            """
        let results = TestResultReader().read(Array(text.utf8), named: "log", format: .swiftpmConsole)
        #expect(results.tests.map(\.name) == ["a()", "a() #2"])
        #expect(results.counts.flaky == 0)
    }

    /// A test of a library that colours text compares escape characters. Without them both values would be "Hello".
    @Test func `escape characters in values remain`() {
        let text = """
            Test Suite 'A' started at 2026-11-24 00:00:00.000
            Test Case 'A.testOne' started at 2026-11-24 00:00:00.000
            \u{1B}[2mprinted\u{1B}[0m
            /w/Tests/A.swift:3: error: A.testOne : XCTAssertEqual failed: ("Hello") is not equal to ("\u{1B}[31mHello\u{1B}[0m") -
            Test Case 'A.testOne' failed (0.1 seconds)
            Test Case 'A.testTwo' started at 2026-11-24 00:00:00.000
            /w/Tests/A.swift:9: error: A.testTwo : XCTAssertEqual failed: ("a
            \u{1B}[1mb") is not equal to ("c") - why
            Test Case 'A.testTwo' failed (0.1 seconds)
            \u{1B}[31mTest Case 'A.testThree' started at 2026-11-24 00:00:00.000\u{1B}[0m
            \u{1B}[31m/w/Tests/A.swift:12: error: A.testThree : XCTAssertTrue failed - no\u{1B}[0m
            Test Case 'A.testThree' failed (0.1 seconds)
            """
        let results = TestResultReader().read(Array(text.utf8), named: "log", format: .swiftpmConsole)
        #expect(
            results["testOne"]?.message
                == #"XCTAssertEqual failed: ("Hello") is not equal to ("\u{1B}[31mHello\u{1B}[0m") -"#)
        #expect(results["testOne"]?.details?.contains("printed") == true)
        #expect(
            results["testTwo"]?.message == "XCTAssertEqual failed: (\"a\n\\u{1B}[1mb\") is not equal to (\"c\") - why")
        #expect(results["testTwo"]?.place == "/w/Tests/A.swift:9")
        // Somebody coloured the runner's own line: nothing of it is a value.
        #expect(results["testThree"]?.message == "XCTAssertTrue failed - no")
        #expect(results.tests.allSatisfy { $0.message?.contains("\u{1B}") != true })
    }
}
