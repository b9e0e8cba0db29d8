import Pipeline
import Results
import TestSupport
import Testing

@testable import Store

@Suite struct ReleaseTests {
    private static func request(_ repository: String, head: Int, landed: [String]) -> RunRequest {
        var request = Sample.request(repository, "release", change: nil, head: head, atMostOnce: true)
        request.mergedChanges = landed.map {
            MergedChange(name: $0, head: Sample.commit(1), commit: Sample.commit(2), recognition: .merge)
        }
        return request
    }

    @Test func `releases are the runs that must not run twice, newest first`() async throws {
        let index = try await Index.watching()
        try await index.register("beta", location: "/beta")
        try await index.completed(Sample.request(change: "7"))
        let request = Self.request("alpha", head: 2, landed: ["7", "8"])
        let first = try await index.enqueue(request).run.id
        try await index.markRunning(first)
        let artifact = ArtifactRecord(
            step: "build", path: "app.zip", bytes: 12, sha256: String(repeating: "a", count: 64))
        try await index.finish(
            Sample.report(first, request, artifacts: [artifact]), tests: [], archivedBytes: 1)
        let second = try await index.enqueue(Self.request("alpha", head: 3, landed: [])).run.id
        let other = try await index.enqueue(Self.request("beta", head: 4, landed: [])).run.id

        let all = try await index.releases(of: nil, limit: 10)
        #expect(all.map(\.run.id) == [other, second, first])
        #expect(all.last?.landed.map(\.name) == ["7", "8"] && all.last?.artifacts == [artifact])
        #expect(try await index.releases(of: "alpha", limit: 1).map(\.run.id) == [second])
        #expect(try await index.releases(of: "alpha", before: second, limit: 9).map(\.run.id) == [first])
        #expect(try await index.releases(of: "gamma", limit: 9).isEmpty)
    }

    @Test func `runs of several verdicts are listed as of one, beside the other conditions`() async throws {
        let index = try await Index.watching()
        var runs: [(id: RunID, verdict: Verdict, workflow: String)] = []
        let verdicts: [Verdict] = [.passed, .failed, .flaky, .infrastructure]
        for number in 1...24 {
            let (verdict, workflow) = (verdicts[number % 4], number % 3 == 0 ? "lint" : "test")
            let id = try await index.completed(
                Sample.request("alpha", workflow, change: nil, head: number), verdict: verdict, tests: [])
            runs.append((id, verdict, workflow))
        }
        let wanted: [Set<Verdict>] = [[.failed], [.failed, .flaky], Set(verdicts), [.cancelled], []]
        for chosen in wanted {
            for (workflow, limit) in [(nil, 100), ("lint", 100), ("test", 3), (nil, 5)] as [(String?, Int)] {
                let expected = runs.reversed().filter {
                    chosen.contains($0.verdict) && (workflow == nil || $0.workflow == workflow)
                }.prefix(limit).map { $0.id }
                let filter = RunFilter(
                    repository: "alpha", workflow: workflow, branch: "main", states: [.ended], verdicts: chosen,
                    limit: limit)
                #expect(try await index.runs(filter).map(\.id) == expected)
            }
        }
    }

    @Test func `changes are counted by state, and listed by when they moved`() async throws {
        let index = try await Index.watching()
        for (name, state) in [("1", ChangeRecord.State.open), ("2", .open), ("3", .stale), ("4", .closed)] {
            try await index.setChange(Sample.change(name, state), of: "alpha")
        }
        #expect(try await index.changeCounts([.open, .stale, .conflict]) == ["alpha": [.open: 2, .stale: 1]])
        #expect(try await index.newestChanges(of: "alpha", limit: 3).count == 3)
        #expect(try await index.newestChanges(of: "beta", limit: 3).isEmpty)
        #expect(try await index.changes(of: "alpha", states: [.open]).map(\.name) == ["1", "2"])
    }
}
