import Reports
import Results
import Foundation
import TestSupport
import Testing

@Suite struct TargetBlameTests {
    private func blamed(_ also: [String], _ new: [String] = [], others: [StepRecord] = []) -> TargetBlame? {
        let tests = (also + new).map { TestResult(suite: "", name: $0, status: .failed) }
        var report = Sample.report(7, verdict: .failed, tests: tests)
        var step = Sample.step("unit tests", .failed)
        step.tests = TestSpan(first: 0, count: tests.count)
        report.steps = [step] + others
        report.comparison = Comparison(against: 5, commit: "c", alsoFailing: also, newlyFailing: new)
        return TargetBlame(report, tests)
    }

    @Test(
        arguments: [
            (["a"], [], "the failing test fails on main too (run 5)", true),
            (["a", "b"], [], "both failing tests fail on main too (run 5)", true),
            (["a", "b", "c"], [], "all 3 failing tests fail on main too (run 5)", true),
            (["a"], ["b"], "1 of 2 failing tests fails on main too (run 5)", false),
            (["a", "b"], ["c"], "2 of 3 failing tests fail on main too (run 5)", false),
        ] as [([String], [String], String, Bool)])
    func `what fails on the target too is said first`(also: [String], new: [String], words: String, isWhole: Bool)
        throws
    {
        let blame = try #require(blamed(also, new))
        #expect(blame.headline == words && blame.isWhole == isWhole)
        #expect(blame.reason("exit code 1").hasPrefix(isWhole ? words : "exit code 1"))
        #expect(blame.reason(blame.reason("exit code 1")) == blame.reason("exit code 1"), "said once")
    }

    @Test func `a failure of the change's own is not the target's`() throws {
        #expect(blamed([], ["a"]) == nil && blamed([]) == nil)
        #expect(try #require(blamed(["a"], others: [Sample.step("lint", .failed)])).isWhole == false)
        #expect(try #require(blamed(["a"], others: [Sample.step("lint", .timedOut)])).isWhole == false)
        var allowed = Sample.step("lint", .failed)
        allowed.allowsFailure = true
        #expect(try #require(blamed(["a"], others: [allowed])).isWhole)
    }
}
