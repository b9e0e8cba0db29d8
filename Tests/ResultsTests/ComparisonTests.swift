import Results
import Testing

@Suite struct ComparisonTests {
    private func test(_ name: String, _ status: TestResult.Status, attempt: Int = 1) -> TestResult {
        TestResult(suite: "S", name: name, status: status, attempt: attempt)
    }

    @Test(
        arguments: [
            (TestResult.Status.failed, TestResult.Status.failed, "also"), (.errored, .failed, "also"),
            (.failed, .passed, "newly"), (.failed, .skipped, "newly"), (.errored, .expectedFailure, "newly"),
            (.skipped, .passed, "skipped"), (.skipped, .failed, "skipped"), (.skipped, .skipped, "nothing"),
            (.passed, .failed, "nothing"), (.expectedFailure, .passed, "nothing"),
        ])
    func `each pair of results is in the right list`(
        here: TestResult.Status, there: TestResult.Status, expected: String
    ) {
        let comparison = Comparison.between([test("a", here)], and: [test("a", there)], targetRun: 3, targetCommit: "c")
        #expect(comparison.alsoFailing == (expected == "also" ? ["S/a"] : []))
        #expect(comparison.newlyFailing == (expected == "newly" ? ["S/a"] : []))
        #expect(comparison.newlySkipped == (expected == "skipped" ? ["S/a"] : []))
        #expect(comparison.vanished.isEmpty)
        #expect(comparison.against == 3)
        #expect(comparison.commit == "c")
    }

    @Test func `tests that only one run has are added or vanished`() {
        let comparison = Comparison.between(
            [test("new", .failed), test("new and fine", .passed), test("new and skipped", .skipped)],
            and: [test("gone", .passed), test("gone and broken", .failed), test("never ran", .skipped)],
            targetRun: 3, targetCommit: "c")
        #expect(comparison.newlyFailing == ["S/new"])
        #expect(comparison.vanished == ["S/gone", "S/gone and broken"])
        #expect(comparison.newlySkipped.isEmpty)
    }

    @Test func `the last attempt of a test counts`() {
        let comparison = Comparison.between(
            [test("flaky", .passed, attempt: 2), test("flaky", .failed, attempt: 1), test("worse", .failed)],
            and: [test("worse", .failed, attempt: 1), test("worse", .passed, attempt: 2)], targetRun: 3,
            targetCommit: "c")
        #expect(comparison.newlyFailing == ["S/worse"])
        #expect(comparison.alsoFailing.isEmpty)
    }

    @Test func `two runs without tests have no difference`() {
        var nothing = Comparison(against: 1, commit: "c")
        (nothing.fixed, nothing.added) = ([], [])
        #expect(Comparison.between([], and: [], targetRun: 1, targetCommit: "c") == nothing)
    }
}
