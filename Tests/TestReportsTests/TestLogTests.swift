import Testing

@testable import Diagnostics
@testable import Results
@testable import TestReports

/// What a step's output adds to results whose file lacks messages.
@Suite struct TestLogTests {
    @Test func `an XCTest on Linux gets its assertion from the log`() throws {
        let report = try Fixture.results("swiftpm-xctest.xml")
        #expect(report["testFails"]?.message == "failure")
        let tests = TestLog(try Fixture.bytes("swiftpm-console-parallel.txt")).completing(report.tests)
        let results = TestResults(tests: tests)
        #expect(results["testFails"]?.message == "XCTAssertEqual failed: (\"3\") is not equal to (\"4\") - sum is off")
        #expect(results["testFails"]?.place == "/build/demo/Tests/DemoTests/XTests.swift:9")
        #expect(results["testPrints"]?.message == "failed - mehrzeilig\nzweite Zeile → ü")
        #expect(results["testPrints"]?.details?.contains("hello <world>") == true)
        #expect(results["testPasses"]?.status == .passed)
        #expect(tests.count == report.tests.count)
        #expect(tests.map(\.suite) == report.tests.map(\.suite))
    }

    private static let log = """
        Test Case 'ViewTests.testOne' started at 2026-11-23 21:00:00.000
        /w/V.swift:12: error: ViewTests.testOne : XCTAssertEqual failed: ("id,the, name,age
        1,"x",3") is not equal to ("id,name
        2") - rows
        printed by testOne
        Test Case 'ViewTests.testOne' failed (0.002 seconds)
        Test Case 'ViewTests.testOneMore' started at 2026-11-23 21:00:00.000
        printed by testOneMore
        Test Case 'ViewTests.testOneMore' passed (0.002 seconds)

        """

    @Test func `an assertion of several lines is complete`() {
        let bare = [TestResult(suite: "App.ViewTests", name: "testOne", status: .failed, message: "failure")]
        let test = TestLog(Array(Self.log.utf8)).completing(bare)[0]
        #expect(
            test.message
                == "XCTAssertEqual failed: (\"id,the, name,age\n1,\"x\",3\") is not equal to (\"id,name\n2\") - rows")
        #expect(test.details == "printed by testOne")
        #expect(test.place == "/w/V.swift:12")
        // A finding has it whole, too, and a test that says it makes the finding needless.
        let findings = DiagnosticScanner().findings(in: Array(Self.log.utf8))
        #expect(findings.count == 1)
        #expect(findings.first?.message.hasSuffix("(\"id,name\n2\") - rows") == true)
        #expect(findings.first?.isTold(by: [test]) == true)
        #expect(
            findings.first?.isTold(by: [TestResult(suite: "App.ViewTests", name: "testOther", status: .failed)])
                == false)
    }

    @Test func `a name that two suites have is not guessed`() {
        let bare = [TestResult(suite: "", name: "testOne", status: .failed, message: "failure")]
        let log = Self.log + Self.log.replacing("ViewTests", with: "OtherTests")
        #expect(TestLog(Array(log.utf8)).completing([bare[0]])[0].message == "failure")
    }

    @Test func `CTest's reason for a test's end is found`() throws {
        let report = try Fixture.results("ctest-timeout.xml")
        #expect(report.tests.map(\.id) == ["ok", "slow", "bad", "crash"])
        let results = TestResults(
            tests: TestLog(try Fixture.bytes("ctest-timeout.txt")).completing(report.tests))
        #expect(results["slow"]?.message?.hasPrefix("CTest stopped it") == true)
        #expect(results["crash"]?.message == "It crashed: SegFault")
        #expect(results["bad"]?.message == "Failure: expected 3, got 4")
        #expect(results["bad"]?.place == "/tmp/x/a.c:12")
    }
}
