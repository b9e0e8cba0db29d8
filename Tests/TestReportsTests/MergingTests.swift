import Results
import Testing

@Suite struct MergingTests {
    @Test func `the event stream completes SwiftPM's report`() throws {
        let report = try Fixture.results("swiftpm-swift-testing.xml")
        let events = try Fixture.results("swift-testing-0.jsonl")
        for merged in [report.merging(events), events.merging(report)] {
            #expect(merged.tests.count == 20)
            #expect(merged.tally == events.tally)
            #expect(merged["fails()"]?.place == "/build/demo/Tests/DemoTests/STests.swift:8")
            #expect(merged["known()"]?.status == .expectedFailure)
        }
    }

    @Test func `the console completes XCTest's report`() throws {
        let report = try Fixture.results("swiftpm-xctest.xml")
        let merged = report.merging(try Fixture.results("swiftpm-console.txt"))
        let fails = try #require(merged["testFails"])
        #expect(fails.suite == "DemoTests.XTests")
        #expect(fails.place == "/build/demo/Tests/DemoTests/XTests.swift:9")
        #expect(merged["testSkips"]?.status == .skipped)
        #expect(merged.tests.count { $0.name.hasPrefix("test") } == report.tests.count)
    }

    @Test func `the same name in two suites is two tests`() {
        let one = TestResults(tests: [TestResult(suite: "A", name: "t", status: .passed)])
        let two = TestResults(tests: [TestResult(suite: "B", name: "t", status: .failed)])
        #expect(one.merging(two).tests.count == 2)
        #expect(one.merging(one) == one)
    }
}
