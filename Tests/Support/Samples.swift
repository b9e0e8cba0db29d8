package import Foundation
import Git
package import Store
package import Pipeline
package import Results

/// Values for tests to start from. Each test changes what it is about.
package enum Sample {
    package static let start = Date(timeIntervalSince1970: 1_790_000_000)

    /// A commit id that ends with `number`.
    package static func commit(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "a", count: 40 - digits.count) + digits
    }

    package static func request(
        _ repository: String = "alpha", _ workflow: String = "test", change: String? = "7", head: Int = 1,
        concurrency: Concurrency = .supersede, nonce: String = "", atMostOnce: Bool = false
    ) -> RunRequest {
        RunRequest(
            repository: repository, workflow: workflow, event: change == nil ? .merge : .pullRequest,
            ref: change.map { "refs/pull/\($0)/head" } ?? "refs/heads/main", branch: "main", head: commit(head),
            definitionCommit: commit(0),
            change: change.map {
                Change(
                    name: $0, head: commit(head), target: "main", targetCommit: commit(0), title: "Change \($0)",
                    author: "ada")
            },
            nonce: nonce, subject: change ?? "main", concurrency: concurrency, runsAtMostOnce: atMostOnce)
    }

    package static func report(
        _ id: RunID, _ request: RunRequest = request(), verdict: Verdict = .passed, tests: [TestResult] = tests,
        artifacts: [ArtifactRecord] = [], endedAt: Date = start.addingTimeInterval(12.5)
    ) -> Report {
        Report(
            id: id, repository: request.repository, workflow: request.workflow, event: request.event, ref: request.ref,
            branch: request.branch, head: request.head, testedCommit: commit(0xBEEF), testedTree: commit(0xCAFE),
            change: request.change, verdict: verdict, reason: "All is as it should be.", createdAt: start,
            startedAt: start.addingTimeInterval(1), endedAt: endedAt, steps: [step("build"), step("unit tests")],
            testCounts: TestCounts(tests), artifacts: artifacts, reproduce: "pipectl run test --change 7",
            box: Report.Machine(host: "box", system: "Linux x86_64", pipectlVersion: "0.1.0"))
    }

    package static func step(_ name: String, _ status: StepStatus = .passed) -> StepRecord {
        StepRecord(
            name: name, command: "swift \(name)", status: status,
            attempts: [
                AttemptRecord(
                    number: 1, startedAt: start.addingTimeInterval(1), endedAt: start.addingTimeInterval(3.5),
                    status: status, exitCode: 0, log: LogRecord(file: "\(name)-1.log", bytes: 3, droppedBytes: 0))
            ])
    }

    package static let tests = [
        TestResult(suite: "Unit", name: "adds", status: .passed, duration: 0.25),
        TestResult(
            suite: "Unit", name: "divides", status: .failed, duration: 0.5, message: "1 is not 2",
            details: "a long story",
            file: "Tests/Unit.swift", line: 12),
        TestResult(suite: "Unit", name: "divides", status: .passed, file: "Tests/Unit.swift", line: 12, attempt: 2),
        TestResult(suite: "", name: "skips", status: .skipped, message: "not on Linux"),
    ]

    package static func change(_ name: String, _ state: ChangeRecord.State, landed: String? = nil) -> ChangeRecord {
        ChangeRecord(
            name: name, target: "main", head: commit(1), targetCommit: commit(0), state: state, title: "Change \(name)",
            author: "ada", landedCommit: landed, recognition: landed == nil ? nil : .squash)
    }
}

extension Index {
    /// Every ref of the repository in the last observation, with its commit; nil before the baseline.
    package func cursor(of repository: String) async throws -> [String: String]? {
        // If no ref is left, all of them have moved.
        try await news(of: repository, refs: [:]) { _ in .all }?.moves.reduce(into: [:]) {
            $0[$1.name] = $1.old?.description
        }
    }

    /// A store in memory that has observed "alpha" once.
    package static func watching(_ refs: [String: String] = [:], now: @escaping @Sendable () -> Date = { Sample.start })
        async throws
        -> Index
    {
        let index = try Index.inMemory(now: now)
        try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: refs)
        return index
    }

    /// Accepts a run, for tests in which it supersedes none.
    @discardableResult
    package func accept(_ request: RunRequest) async throws -> EnqueueOutcome { try await enqueue(request) }

    /// Accepts, starts and ends a run.
    @discardableResult
    package func completed(_ request: RunRequest, verdict: Verdict = .passed, tests: [TestResult] = Sample.tests)
        async throws
        -> RunID
    {
        let id = try await enqueue(request).run.id
        try await markRunning(id)
        try await finish(Sample.report(id, request, verdict: verdict, tests: tests), tests: tests, archivedBytes: 2000)
        return id
    }
}
