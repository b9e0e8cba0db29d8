import Control
import Store
import Results
import Foundation
import Pipeline
import Testing
@testable import Daemon

@Suite struct RunReferenceTests {
    @Test(
        arguments: [
            ("12", .number(12)), ("last", .last), ("@", .last), ("#7", .change("7")), ("!7", .change("7")),
            ("#agent/x", .change("agent/x")), ("main", .name("main")), ("refs/tags/v1", .name("refs/tags/v1")),
            ("abc1234", .name("abc1234")), ("99999999999999999999", .name("99999999999999999999")), ("", nil),
            ("#", nil),
            ("-1", nil), ("a b", nil), ("a\nb", nil),
        ] as [(String, RunReference?)])
    func `a reference is read in one way`(text: String, expected: RunReference?) {
        #expect(RunReference(text) == expected)
    }

    private func run(
        _ id: RunID, _ workflow: String = "test", head: String = "a", repository: String = "app",
        upkeep: BackgroundRun? = nil
    ) -> RunSummary {
        var run = RunSummary(
            id: id, repository: repository, workflow: workflow, event: .push, ref: "refs/heads/main", branch: "main",
            head: head, state: .ended, verdict: .passed, createdAt: Date(timeIntervalSince1970: 0))
        run.upkeep = upkeep
        return run
    }

    private func choose(_ runs: RunSummary...) -> RunLookup.Choice { RunLookup.choose(among: runs, .name("main")) }

    @Test func `the newest run of the newest commit is meant`() {
        #expect(choose() == .none)
        #expect(choose(run(4, head: "b"), run(3, "lint", head: "a"), run(2, head: "a")) == .run(4))
        #expect(choose(run(4), run(3)) == .run(4), "a rerun takes the place of the first")
        #expect(choose(run(9, upkeep: .flakeProbe), run(8, upkeep: .warmUp), run(3)) == .run(3))
        #expect(choose(run(9, upkeep: .warmUp)) == .run(9))
    }

    @Test func `several workflows or repositories are ambiguous`() {
        #expect(choose(run(4), run(3, "lint"), run(2)) == .several([run(4), run(3, "lint")]))
        let elsewhere = run(3, head: "z", repository: "lib")
        #expect(choose(run(4), elsewhere) == .several([run(4), elsewhere]))
        #expect(RunLookup.choose(among: [run(4), elsewhere], .last) == .run(4))
    }

    @Test func `names are found in the index, in the caller's repository first`() async throws {
        let index = try Index.inMemory()
        func accept(_ repository: String, change: String?, head: Character, ref: String = "refs/heads/main")
            async throws
            -> RunID
        {
            let commit = String(repeating: head, count: 40)
            return try await index.enqueue(
                RunRequest(
                    repository: repository, workflow: "test", event: .push, ref: ref, branch: "main", head: commit,
                    definitionCommit: commit,
                    change: change.map {
                        Change(
                            name: $0, head: commit, target: "main", targetCommit: commit, title: "", author: "ada")
                    }, subject: change ?? "main", concurrency: .queue(max: 10))
            ).run.id
        }
        let main = try await accept("app", change: nil, head: "a")
        let seven = try await accept("app", change: "7", head: "b", ref: "refs/pull/7/head")
        let branch = try await accept("app", change: "agent/x", head: "c", ref: "refs/heads/agent/x")
        let other = try await accept("lib", change: "7", head: "d", ref: "refs/pull/7/head")
        func find(_ text: String, in repository: String?) async throws -> RunID {
            try await RunLookup(index: index, repository: repository).find(try #require(RunReference(text)))
        }
        #expect(try await find("main", in: "app") == main)
        #expect(try await find("refs/heads/main", in: nil) == main, "runs of changes into it are others")
        #expect(try await find("agent/x", in: "app") == branch)
        #expect(try await find("#7", in: "app") == seven)
        #expect(try await find("#7", in: "lib") == other)
        #expect(try await find("bbbb", in: nil) == seven)
        #expect(try await find("last", in: "app") == branch)
        #expect(try await find("last", in: nil) == other)
        #expect(try await find("main", in: "lib") == main, "where its own repository has none, another is searched")
        let several = await #expect(throws: RequestError.self) { try await find("#7", in: nil) }
        #expect(several?.code == .ambiguous)
        let none = await #expect(throws: RequestError.self) { try await find("nosuch", in: "app") }
        #expect(none?.code == .unknownRun)
        let number = await #expect(throws: RequestError.self) { try await find("99", in: "app") }
        #expect(number?.code == .unknownRun)
    }
}
