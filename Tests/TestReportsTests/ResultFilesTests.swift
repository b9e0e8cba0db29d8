import Results
import Testing

@testable import TestReports

/// Several result files of one source.
@Suite struct ResultFilesTests {
    private static func trx(_ outcome: String, _ more: String = "") -> String {
        """
        <TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
        <Results><UnitTestResult testId="1" testName="App.Tests.Adds" outcome="\(outcome)">\
        <Output><ErrorInfo><Message>Expected: 3</Message></ErrorInfo></Output></UnitTestResult>\(more)</Results>
        <TestDefinitions><UnitTest id="1" name="App.Tests.Adds">\
        <TestMethod className="App.Tests" name="Adds"/></UnitTest></TestDefinitions>
        </TestRun>
        """
    }

    private func joined(_ files: [(String, String)]) -> TestResults {
        TestResults.joining(
            files.map {
                ResultFileContent(path: $0.0, results: TestResultReader().read(Array($0.1.utf8), named: $0.0))
            })
    }

    @Test(arguments: [true, false])
    func `a failure for one target framework is no try of the other`(failsFirst: Bool) {
        let outcomes = failsFirst ? ["Failed", "Passed"] : ["Passed", "Failed"]
        let own = "<UnitTestResult testId=\"2\" testName=\"App.Tests.Only9\" outcome=\"Passed\"/>"
        let results = joined([
            ("out/net8.0/t.trx", Self.trx(outcomes[0])), ("out/net9.0/t.trx", Self.trx(outcomes[1], own)),
        ])
        #expect(results.counts.failed == 1)
        #expect(results.counts.passed == 2)
        #expect(results.counts.flaky == 0)
        #expect(
            results.tests.map(\.id) == [
                "net8.0/t.trx/App.Tests/Adds", "net9.0/t.trx/App.Tests/Adds", "App.Tests/Only9",
            ])
        #expect(results.tests.allSatisfy { $0.attempt == 1 })
    }

    @Test func `a file name of a single run is not part of a test's name`() {
        for names in [
            ["ada_box_2026-11-24_00_12_33.trx", "ada_box_2026-11-24_00_12_34.trx"],
            ["TEST-71234.xml", "TEST-71239.xml"],
            ["1b4e28ba-2fa1-11d2-883f-0016d3cca427.trx", "6ba7b810-9dad-11d1-80b4-00c04fd430c8.trx"],
        ] {
            let results = joined(names.map { ($0, Self.trx("Passed")) })
            #expect(results.tests.map(\.id) == ["App.Tests/Adds", "App.Tests/Adds #2"])
        }
    }

    @Test func `marked retries of a file stay together`() {
        let file =
            "<testsuite name='s'><testcase classname='C' name='t'><flakyFailure message='m'/></testcase></testsuite>"
        let results = joined([("a.xml", file), ("b.xml", file)])
        #expect(results.tests.map(\.id) == ["a.xml/C/t", "a.xml/C/t", "b.xml/C/t", "b.xml/C/t"])
        #expect(results.tests.map(\.attempt) == [1, 2, 1, 2])
        #expect(results.counts.flaky == 2)
    }

    @Test func `a new name differs from all others`() {
        let file = "<testsuite name='s'><testcase classname='C' name='t'/></testsuite>"
        let other = "<testsuite name='s'><testcase classname='a.xml/C' name='t'/></testsuite>"
        let results = joined([("a.xml", file), ("b.xml", file), ("c.xml", other)])
        #expect(Set(results.tests.map(\.id)).count == 3)
    }

    /// SwiftPM's report and event stream describe the same run.
    @Test func `files of two formats are merged`() throws {
        let report = try Fixture.results("swiftpm-swift-testing.xml")
        let events = try Fixture.results("swift-testing-0.jsonl")
        let results = TestResults.joining([
            ResultFileContent(path: "r/a.xml", results: report), ResultFileContent(path: "r/a.jsonl", results: events),
        ])
        #expect(results.tests.count == 20)
        #expect(results.tally == events.tally)
    }
}
