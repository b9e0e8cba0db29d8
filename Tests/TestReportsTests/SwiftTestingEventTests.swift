@testable import Results
import TestReports
import Testing

@Suite struct SwiftTestingEventTests {
    @Test(arguments: ["swift-testing-0.jsonl", "swift-testing-6.3.jsonl"])
    func `both versions are read`(name: String) throws {
        let results = try Fixture.results(name)
        #expect(results.tally == "6/9/1/3/1")
        #expect(results.findings.isEmpty)
        let source = "/build/demo/Tests/DemoTests/STests.swift"
        #expect(results["helperFails()"]?.place == source + ":21")
        #expect(results["known()"]?.status == .expectedFailure)
        #expect(results["known()"]?.place == source + ":11")
        #expect(results["off()"]?.message == "waiting for issue 12")
        #expect(results["cancels()"]?.message == "no device")
        #expect(results["throwing()"]?.status == .errored)
        #expect(results["deep()"]?.suite == "DemoTests.STests.Inner")
        #expect(results["free()"]?.suite == "DemoTests")
        #expect(results["`a raw name`()"]?.suite == "DemoTests")
        #expect(0.04...0.2 ~= results["deep()"]?.duration ?? 0)
    }

    @Test func `failing arguments are named`() throws {
        let results = try Fixture.results("swift-testing-0.jsonl")
        #expect(results["parametrised(n:)"]?.details?.contains("with arguments: 2") == true)
        #expect(results["pairs(text:flag:)"]?.details?.contains("with arguments: \"a/b\", false") == true)
    }

    @Test func `the events and SwiftPM's report name tests alike`() throws {
        let events = Set(try Fixture.results("swift-testing-0.jsonl").tests.map(\.id))
        let report = Set(try Fixture.results("swiftpm-swift-testing.xml").tests.map(\.id))
        #expect(events == report)
    }

    @Test func `a crash is an error of the running tests`() throws {
        let bytes = try Fixture.bytes("swift-testing-0.jsonl")
        // The run ends before its last two lines: one test had not ended.
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
        let end = try #require(lines.firstIndex { String(decoding: $0, as: UTF8.self).contains("deep() passed") })
        let cut = Array(lines[..<end].joined(separator: [10])) + Array("\n{\"kind\":\"ev".utf8)
        let results = TestResultReader().read(cut, named: "e.jsonl")
        #expect(results["deep()"]?.status == .errored)
        #expect(results["passes()"]?.status == .passed)
        #expect(results.findings.count == 2 && results.findings.allSatisfy { $0.severity == .error })
    }

    @Test func `invalid events are ignored`() {
        let deep = String(repeating: "[", count: 100_000)
        let text =
            "{\"kind\":\"event\"}\n{\"a\":\(deep)\nnull\n{}\n\n{\"kind\":\"test\",\"payload\":{\"kind\":\"function\"}}\n"
        let results = TestResultReader().read(Array(text.utf8), named: "e.jsonl")
        #expect(results.tests.isEmpty)
        #expect(results.findings.contains { $0.line == 1 })
    }

    @Test func `an issue outside of tests is a finding`() {
        let text = """
            {"kind":"event","payload":{"kind":"issueRecorded","issue":{"isKnown":false,"sourceLocation":{"fileID":"M/F.swift","line":3,"column":7}},"messages":[{"symbol":"fail","text":"late"}]},"version":0}
            {"kind":"event","payload":{"kind":"runEnded","messages":[]},"version":0}
            """
        let finding = TestResultReader().read(Array(text.utf8), named: "e.jsonl").findings.first
        #expect(finding?.rule == "test-issue" && finding?.line == 3 && finding?.file == "M/F.swift")
    }
}
