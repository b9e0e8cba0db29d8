import Store
import Results
import Pipeline
import TestSupport
import Testing

/// What the store knows about where a run is likely to fail.
@Suite struct OrderTests {
    private func finish(
        _ index: Index, _ request: RunRequest, _ steps: [StepRecord], tests: [TestResult] = [],
        verdict: Verdict = .passed
    ) async throws {
        let id = try await index.enqueue(request).run.id
        try await index.markRunning(id)
        var report = Sample.report(id, request, verdict: verdict, tests: tests)
        report.steps = steps
        try await index.finish(report, tests: tests, archivedBytes: 1)
    }

    @Test func `steps are counted over the workflow's last runs`() async throws {
        let index = try await Index.watching()
        for head in 1...6 {
            let status: StepStatus = head.isMultiple(of: 3) ? .failed : .passed
            try await finish(
                index, Sample.request(change: "\(head % 2)", head: head),
                [Sample.step("build"), Sample.step("unit", status)],
                verdict: status == .failed ? .failed : .passed)
        }
        try await finish(
            index, Sample.request("alpha", "other", head: 7), [Sample.step("build", .failed)], verdict: .failed)
        try await finish(index, Sample.request("beta", head: 8), [Sample.step("build", .timedOut)], verdict: .failed)
        try await finish(
            index, Sample.request(change: "1", head: 9), [Sample.step("build", .failed)], verdict: .superseded)
        let history = try await index.stepHistory(repository: "alpha", workflow: "test", change: "1")
        #expect(
            history.steps == [
                "build": .init(runs: 6, failures: 0, seconds: 2.5),
                "unit": .init(runs: 6, failures: 2, seconds: 2.5, failedOnChange: true),
            ])
        #expect(
            try await index.stepHistory(repository: "alpha", workflow: "test", change: "5").steps["unit"]?
                .failedOnChange
                == false)
        #expect(try await index.stepHistory(repository: "none", workflow: "test", change: nil) == StepHistory())
    }

    @Test func `candidates failed on this change, are near, or failed recently`() async throws {
        let index = try await Index.watching()
        func test(_ name: String, _ status: TestResult.Status = .passed, file: String) -> TestResult {
            TestResult(suite: "S", name: name, status: status, duration: 0.5, file: file)
        }
        let all = ["a": "Tests/ATests.swift", "b": "Tests/BTests.swift", "c": "Tests/CTests.swift"]
        func results(failing: String...) -> [TestResult] {
            all.sorted { $0.key < $1.key }.map {
                test($0.key, failing.contains($0.key) ? .failed : .passed, file: $0.value)
            }
        }
        try await finish(index, Sample.request(change: nil, head: 1), [], tests: results())
        let untroubled = try await index.testCandidates(
            repository: "alpha", workflow: "test", change: "1",
            nearness: TestNearness(changedFiles: [ChangedFile(status: .modified, path: "Sources/B.swift")]))
        #expect(untroubled.failing.isEmpty && untroubled.failedBefore.isEmpty && untroubled.near.count == 1)
        try await finish(
            index, Sample.request(change: "1", head: 2), [], tests: results(failing: "a"), verdict: .failed)
        try await finish(
            index, Sample.request(change: "1", head: 3), [], tests: results(failing: "c"), verdict: .failed)
        try await finish(
            index, Sample.request(change: "2", head: 4), [], tests: results(failing: "c"), verdict: .failed)
        // It was interrupted after one test, so it does not show which tests exist.
        try await finish(
            index, Sample.request(change: "3", head: 5), [], tests: [test("a", file: "Tests/ATests.swift")],
            verdict: .failed)
        let nearness = TestNearness(changedFiles: [ChangedFile(status: .modified, path: "Sources/B.swift")])
        let found = try await index.testCandidates(
            repository: "alpha", workflow: "test", change: "1", nearness: nearness)
        #expect(found.failedBefore.map(\.name) == ["c", "a"])
        #expect(found.near == [.init(KnownTest(suite: "S", name: "b", file: all["b"], seconds: 0.5), distance: 1)])
        #expect(found.failing.map(\.test.name) == ["c", "a"])
        #expect(found.failing.map(\.failures) == [2, 1])
        #expect(found.runs == 5)
        let other = try await index.testCandidates(
            repository: "alpha", workflow: "test", change: nil, nearness: TestNearness(changedFiles: []))
        #expect(other.failedBefore.isEmpty && other.near.isEmpty)
    }
}
