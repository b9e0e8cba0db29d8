import Results
import Foundation
import TestIntegrity
import Pipeline
import Testing
@testable import Evaluating

@Suite struct QuarantineTests {
    /// 2026-06-15T12:00:00Z
    private let today = Date(timeIntervalSince1970: 1_781_524_800)

    private func look(_ until: String) -> (holds: Bool, rule: String?) {
        let found = QuarantineList([Quarantine(test: "A/b", until: until, reason: "x")], today: today)
        return (!found.active.isEmpty, found.findings.first?.rule)
    }

    @Test func `a quarantine lasts to the end of its day`() {
        #expect(look("2026-06-15") == (true, nil))
        #expect(look("2026-06-14") == (false, "quarantine-expired"))
        #expect(look("2026-09-13") == (true, nil))
        #expect(look("2026-09-15") == (false, "quarantine-too-far"))
    }

    @Test(arguments: [
        "", "tomorrow", "2026-02-30", "2026-6-1", "2026-13-01", "99999999999999999999-01-01", "2026-06-15 ",
    ])
    func `an invalid date quarantines nothing`(_ until: String) { #expect(look(until) == (false, "quarantine-date")) }

    @Test func `a quarantine covers the named test`() {
        let one = Quarantine(test: "SumTests/adds", until: "", reason: "")
        #expect(one.covers("SumTests/adds") && one.covers("AppTests.SumTests/adds()"))
        #expect(!one.covers("SumTests/addsMore") && !one.covers("MySumTests/adds") && !one.covers("adds"))
    }
}

@Suite struct ResultIntegrityTests {
    private func result(_ name: String, _ status: TestResult.Status = .passed) -> TestResult {
        TestResult(suite: "S", name: name, status: status, file: "Tests/S.swift", line: 3)
    }

    private func breaches(
        _ here: [TestResult], _ there: [TestResult], sources: IntegrityOutcome = IntegrityOutcome(breaches: [])
    ) -> [Breach.Kind] {
        ResultIntegrity(rules: IntegrityRule.standardRules, sources: sources).breaches(here, there).map(\.kind)
    }

    @Test func whatIsMissed() {
        #expect(breaches([result("a")], [result("a"), result("b")]) == [.removedTest])
        #expect(breaches([result("a"), result("b", .skipped)], [result("a"), result("b")]) == [.skippedTest])
        #expect(breaches([result("a", .expectedFailure)], [result("a")]) == [.skippedTest])
        #expect(breaches([result("a[1]")], [result("a[1]"), result("a[2]")]) == [.fewerCases])
    }

    @Test func whatIsNot() {
        #expect(breaches([result("a"), result("b")], [result("a")]).isEmpty)
        #expect(breaches([result("a")], [result("a"), result("b", .skipped)]).isEmpty, "it did not run there")
        #expect(
            breaches([result("a[3]"), result("a[4]")], [result("a[1]"), result("a[2]")]).isEmpty, "cases of one test")
        #expect(breaches([result("a()")], [result("testA()")]).isEmpty, "a name in another style")
        let known = IntegrityOutcome(breaches: [], renamed: ["S.b": "S.c"], removed: ["S.d"])
        #expect(breaches([], [result("b()"), result("d()")], sources: known).isEmpty, "the sources have told of it")
    }
}
