import Results
import Store
import Foundation
import Pipeline
import TestSupport
import Testing

@Suite struct FinishTests {
    @Test func `a finished run is recorded completely`() async throws {
        let index = try await Index.watching()
        let id = try await index.enqueue(Sample.request()).run.id
        try await index.markRunning(id)
        let artifact = ArtifactRecord(step: "build", path: "tool", bytes: 3, sha256: String(repeating: "0", count: 64))
        try await index.finish(Sample.report(id, artifacts: [artifact]), tests: Sample.tests, archivedBytes: 1234)
        let run = try #require(try await index.run(id))
        #expect(run.request == Sample.request())
        #expect(run.steps.map(\.name) == ["build", "unit tests"])
        #expect(run.steps.map(\.duration) == [2.5, 2.5])
        let summary = run.summary
        #expect(summary.state == .ended)
        #expect(summary.verdict == .passed)
        #expect(summary.title == "Change 7")
        #expect(summary.testedCommit == Sample.commit(0xBEEF))
        #expect(abs((summary.duration ?? 0) - 11.5) < 0.001)
        #expect(summary.stepCounts == StepCounts(passed: 2))
        #expect(summary.testCounts == TestCounts(Sample.tests))
        #expect(summary.isArchived)
        #expect(try await index.runs(withArtifact: artifact.sha256) == [id])
    }

    @Test func `test results are stored without details`() async throws {
        let index = try await Index.watching()
        let id = try await index.completed(Sample.request())
        var expected = Sample.tests
        expected[1].details = nil
        #expect(try await index.tests(of: id) == expected)
    }

    @Test func `finishing twice changes nothing`() async throws {
        let index = try await Index.watching()
        let id = try await index.completed(Sample.request())
        var again = Sample.report(id)
        again.reason = "another sentence"
        try await index.finish(again, tests: [])
        #expect(try await index.run(id)?.summary.reason == Sample.report(id).reason)
        #expect(try await index.tests(of: id).count == Sample.tests.count)
    }

    @Test func `a run that could not be archived is listed`() async throws {
        let index = try await Index.watching()
        let id = try await index.enqueue(Sample.request()).run.id
        try await index.markRunning(id)
        try await index.finish(Sample.report(id), tests: Sample.tests)
        #expect(try await index.run(id)?.summary.verdict == .passed)
        #expect(try await index.endedWithoutReport().map(\.id) == [id])
        try await index.finish(Sample.report(id), tests: Sample.tests, archivedBytes: 500)
        #expect(try await index.endedWithoutReport().isEmpty)
        #expect(try await index.tests(of: id).count == Sample.tests.count)
    }

    @Test func `a verdict can't be changed`() async throws {
        let index = try await Index.watching()
        let id = try await index.completed(Sample.request())
        let error = await #expect(throws: ArchiveError.self) {
            try await index.finish(Sample.report(id, verdict: .failed), tests: [])
        }
        #expect(error?.code == .verdictGiven)
        let unknown = await #expect(throws: ArchiveError.self) { try await index.finish(Sample.report(99), tests: []) }
        #expect(unknown?.code == .unknownRun)
    }

    @Test func `a run that never started gets its report`() async throws {
        let index = try await Index.watching()
        try await index.accept(Sample.request(head: 1))
        try await index.accept(Sample.request(head: 2))
        let run = try #require(try await index.endedWithoutReport().first)
        let box = Report.Machine(host: "box", system: "Linux", pipectlVersion: "0.1.0")
        let report = try #require(Report(unstarted: run, reproduce: "pipectl rerun 1", box: box))
        #expect(report.verdict == .superseded)
        #expect(report.startedAt == nil)
        try await index.finish(report, tests: [], archivedBytes: 500)
        #expect(try await index.endedWithoutReport().isEmpty)
        let waiting = try #require(try await index.run(2))
        #expect(Report(unstarted: waiting, reproduce: "", box: box) == nil)
    }

    @Test func `runs are found by each filter`() async throws {
        let index = try await Index.watching()
        try await index.completed(Sample.request(change: "7", head: 0x71))
        try await index.completed(Sample.request(change: "8", head: 0x81), verdict: .failed)
        try await index.completed(Sample.request("alpha", "release", change: nil, head: 0x91))
        try await index.accept(Sample.request("beta", change: "7", head: 0x72))
        func ids(_ filter: RunFilter) async throws -> [RunID] { try await index.runs(filter).map(\.id) }
        #expect(try await ids(RunFilter()) == [4, 3, 2, 1])
        #expect(try await ids(RunFilter(repository: "alpha")) == [3, 2, 1])
        #expect(try await ids(RunFilter(workflow: "release")) == [3])
        #expect(try await ids(RunFilter(change: "7")) == [4, 1])
        #expect(try await ids(RunFilter(repository: "beta", change: "7")) == [4])
        #expect(try await ids(RunFilter(branch: "main", verdicts: [.failed, .flaky])) == [2])
        #expect(try await ids(RunFilter(states: [.queued])) == [4])
        #expect(try await ids(RunFilter(commitPrefix: Sample.commit(0x81))) == [2])
        #expect(try await ids(RunFilter(commitPrefix: "AAAA")) == [4, 3, 2, 1])
        #expect(try await ids(RunFilter(commitPrefix: "b")) == [])
        #expect(try await ids(RunFilter(before: 3, limit: 1)) == [2])
        #expect(try await ids(RunFilter(since: Sample.start.addingTimeInterval(1))) == [])
        #expect(try await ids(RunFilter(repository: "gamma")) == [])
        #expect(try await ids(RunFilter(commitPrefix: "a' OR 1=1 --")) == [])
    }

    @Test func `the target's latest run is found`() async throws {
        let index = try await Index.watching()
        try await index.completed(Sample.request(change: nil, head: 1))
        try await index.completed(Sample.request(change: nil, head: 2), verdict: .failed)
        try await index.completed(Sample.request(change: nil, head: 3), verdict: .infrastructure)
        try await index.completed(Sample.request("alpha", "lint", change: nil, head: 4), tests: [])
        try await index.completed(Sample.request(change: "7", head: 5))
        try await index.accept(Sample.request(change: nil, head: 6))
        let newest = try await index.latestRun(repository: "alpha", workflow: "test", on: .branch("main"))
        #expect(newest?.id == 2, "a broken box, a change and a waiting run tell nothing about the target")
        #expect(try await index.latestRun(repository: "alpha", workflow: nil, on: .branch("main"))?.id == 2)
        #expect(try await index.latestRun(repository: "alpha", workflow: "lint", on: .branch("main"))?.id == 4)
        #expect(try await index.latestRun(repository: "alpha", workflow: "test", on: .branch("next")) == nil)
        #expect(try await index.latestRun(repository: "beta", workflow: "test", on: .branch("main")) == nil)
        let commit = try await index.latestRun(
            repository: "alpha", workflow: "test", on: .commit(Sample.commit(0xBEEF)))
        #expect(commit?.id == 5)
        #expect(try await index.latestRun(repository: "alpha", workflow: nil, on: .commit(Sample.commit(1))) == nil)
    }

    @Test func `a test has a history`() async throws {
        let index = try await Index.watching()
        for head in 1...3 { try await index.completed(Sample.request(change: "\(head)", head: head)) }
        try await index.completed(Sample.request("alpha", "other", head: 9))
        try await index.completed(Sample.request("beta", head: 9))
        let history = try await index.testHistory(
            suite: "Unit", name: "divides", TestFilter(repository: "alpha", workflow: "test", limit: 4))
        #expect(history.map(\.run) == [3, 3, 2, 2])
        #expect(history.map(\.result.status) == [.failed, .passed, .failed, .passed])
        #expect(history.first?.result.message == "1 is not 2")
        #expect(history.first?.change == "3")
        #expect(try await index.testHistory(suite: "Unit", name: "gone", TestFilter()).isEmpty)
        #expect(try await index.testHistory(suite: "Unit", name: "divides", TestFilter()).count == 10)
        #expect(try await index.testNames(matching: "Unit/divides").map(\.name) == ["divides"])
        #expect(try await index.testNames(matching: "VIDE").map(\.name) == ["divides"])
        #expect(try await index.testNames(matching: "skips").map(\.suite) == [""])
        #expect(try await index.testNames(matching: "i").count == 3)
    }

    @Test(arguments: [
        TestFilter(), TestFilter(repository: "alpha", limit: 5), TestFilter(workflow: "other"),
        TestFilter(repository: "alpha", workflow: "test", limit: 4),
    ])
    func whatAPlotIsDrawnFromIsTheHistory(_ filter: TestFilter) async throws {
        let index = try await Index.watching()
        for head in 1...3 { try await index.completed(Sample.request(change: "\(head)", head: head)) }
        try await index.completed(Sample.request("alpha", "other", head: 9))
        try await index.completed(Sample.request("beta", head: 9))
        let names = [(suite: "Unit", name: "divides"), (suite: "Unit", name: "gone"), (suite: "", name: "skips")]
        var expected: [TestTrend] = []
        for (suite, name) in names {
            let history = try await index.testHistory(suite: suite, name: name, filter)
            if !history.isEmpty { expected.append(TestTrend(suite: suite, name: name, history)) }
        }
        #expect(expected.first?.points.isEmpty == false)
        #expect(try await index.trends(names, filter) == expected)
    }

    @Test func `concurrent writes have separate results`() async throws {
        let index = try await Index.watching()
        let outcomes = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
            for number in 1...200 {
                group.addTask {
                    do {
                        // Every tenth breaks a rule of the schema: a commit id of the wrong length.
                        var request = Sample.request(change: "\(number)", head: number)
                        if number.isMultiple(of: 10) { request.head = "short" }
                        try await index.accept(request)
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(outcomes == 180)
        #expect(try await index.queued().count == 180)
    }
}
