import TestSupport
import Pipeline
import Testing

@testable import Engine
@testable import Results

/// A step that runs some tests only, with a real command.
@Suite(.runFolder) struct NamedTestsTests {
    private static let results = "<testsuite><testcase classname='S' name='one'/></testsuite>"

    private func reason(asking tests: [KnownTest], line: String) async throws -> (StepStatus?, String?) {
        let folder = RunFolder.current
        let step = PlannedStep.shell("unit", "echo \"\(Self.results)\" > r.xml; \(line)") { step in
            step.testResults = [.junit("r.xml")]
        }
        let outcome = await run([step], setting: folder.setting(run: "named") { $0.onlyTests = ["unit": tests] })
        return (outcome.steps.first?.status, outcome.steps.first?.reason)
    }

    @Test func `a failed step says that no test has the name it was asked for`() async throws {
        let (status, reason) = try await reason(asking: [KnownTest(suite: "", name: "nosuch")], line: "exit 8")
        #expect(status == .failed)
        #expect(reason?.hasPrefix("exit code 8; it did not run nosuch") == true, "\(reason ?? "")")
    }

    @Test func `a passed step has failed where the test did not run`() async throws {
        let known = KnownTest(suite: "S", name: "two", file: "s.c")
        #expect(try await reason(asking: [known], line: "true").0 == .failed)
    }

    @Test func `a failed step says nothing of a known test that it did not come to`() async throws {
        let known = KnownTest(suite: "S", name: "two", file: "s.c")
        #expect(try await reason(asking: [known], line: "exit 8").1 == "exit code 8")
    }
}
