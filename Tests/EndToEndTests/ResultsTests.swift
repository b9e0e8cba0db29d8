import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// `pipectl results` reads files as a run does.
struct ResultsTests {
    private struct Output: Decodable { var tests: [TestResult] }

    @Test(.timeLimit(.minutes(6)))
    func `tests of two files are two tests, told apart by file`() async throws {
        func report(_ say: String) -> String {
            "<testsuite name='s'><testcase classname='C' name='adds'>\(say)</testcase></testsuite>\n"
        }
        let files = ["one/r.xml": report("<failure message='no'/>"), "two/r.xml": report("")]
        try await Bench.with(files) { bench in
            for order in [["one/r.xml", "two/r.xml"], ["two/r.xml", "one/r.xml"]] {
                let ended = try await bench.command(
                    [Bench.pipectl, "results", "--json"] + order, in: bench.repository)
                #expect(ended.code == 0, "\(ended.errors)")
                let tests = try JSONDecoder().decode(Output.self, from: Data(ended.output.utf8)).tests
                #expect(tests.map(\.id) == order.map { "\($0)/C/adds" })
                #expect(tests.map(\.attempt) == [1, 1], "a failure is no try of the other file's test")
                #expect(Set(tests.map(\.status)) == [.failed, .passed])
            }
        }
    }
}
