import Pipeline
import Results
import RunSamples
import Running
import Store
import Testing

@testable import TaskService

/// Tasks of what fails by itself: scheduled runs and tests of the target.
@Suite(.timeLimit(.minutes(1))) struct FailureIntakeTests {
    private let bench: TaskBench
    private let intake: FailureIntake

    init() async throws {
        bench = try await TaskBench { $0.sources = [.scheduledRun("nightly"), .redTarget] }
        intake = FailureIntake(requests: bench.requests, sources: bench.sources, log: TaskBench.log)
    }

    private func request(_ workflow: String, _ event: Trigger.Event, nonce: Int) -> RunRequest {
        var request = RunSample.request(change: nil, nonce: "\(nonce)")
        (request.workflow, request.event, request.head) = (workflow, event, RunSample.commit(nonce))
        return request
    }

    /// A run ends, and is heard of as often as `times` says.
    @discardableResult
    private func run(
        _ number: Int, _ verdict: Verdict, _ tests: [TestResult] = [], in workflow: String = "test",
        on event: Trigger.Event = .merge, times: Int = 1, _ change: (inout RunRequest) -> Void = { _ in }
    ) async throws -> RunID {
        var request = request(workflow, event, nonce: number)
        change(&request)
        let id = try await bench.index.completed(request, verdict, tests: tests)
        let report = RunSample.report(id, request, verdict: verdict)
        for _ in 0..<times {
            if FailureIntake.counts(request) { await intake.take(.init(report), request, tests: tests) }
        }
        return id
    }

    private func tasks() async throws -> [TaskRecord] {
        try await bench.index.tasks(TaskFilter(limit: 10)).sorted { $0.id < $1.id }
    }

    private func red(_ name: String) -> TestResult { RunSample.test(name, .failed) }
    private func green(_ name: String) -> TestResult { RunSample.test(name, .passed) }

    @Test func `a scheduled run that fails is one task, however often it fails`() async throws {
        let first = try await run(1, .failed, [red("a")], in: "nightly", on: .schedule, times: 2)
        try await run(2, .failed, [red("a")], in: "nightly", on: .schedule)
        let tasks = try await tasks()
        #expect(tasks.map(\.source) == [.scheduledRun(first)])
        #expect(tasks.first?.text.contains("- S/a") == true)
    }

    @Test func `a scheduled run that passes again answers a task whose work has not begun`() async throws {
        try await run(1, .failed, in: "nightly", on: .schedule)
        try await run(2, .passed, in: "other", on: .schedule)
        #expect(try await tasks().map(\.state) == [.planning])
        try await run(3, .passed, in: "nightly", on: .schedule, times: 2)
        #expect(try await tasks().map(\.state) == [.answered])
        // What fails afterwards is new.
        try await run(4, .failed, in: "nightly", on: .schedule)
        #expect(try await tasks().map(\.state) == [.answered, .planning])
    }

    @Test func `work that has begun goes on when the run passes again`() async throws {
        try await run(1, .failed, in: "nightly", on: .schedule)
        let id = try #require(try await tasks().first?.id)
        try await bench.plan(id)
        _ = try await bench.requests.approve(id, version: 1, by: TaskActor("ada"))
        try await run(2, .passed, in: "nightly", on: .schedule)
        #expect(try await bench.state(id) == .working)
    }

    @Test(arguments: [Verdict.infrastructure, .cancelled, .definitionError, .superseded])
    func `a run that says nothing of the files makes no task`(_ verdict: Verdict) async throws {
        try await run(1, verdict, in: "nightly", on: .schedule)
        #expect(try await tasks().isEmpty)
    }

    @Test func `tests that turn red on the target are one task; those that always were are none`() async throws {
        try await run(1, .failed, [red("old"), green("a"), green("b")])
        #expect(try await tasks().isEmpty, "nothing is known of the time before")
        let run = try await run(2, .failed, [red("old"), red("a"), red("b")], times: 2)
        #expect(try await tasks().map(\.source) == [.redTest("S/a", run: run)])
        #expect(try await tasks().first?.text.contains("S/old") == false)
        try await self.run(3, .failed, [red("old"), red("a"), red("b")])
        #expect(try await tasks().count == 1)
    }

    @Test func `a test that passes again answers its task`() async throws {
        try await run(1, .passed, [green("a")])
        try await run(2, .failed, [red("a")])
        #expect(try await tasks().map(\.state) == [.planning])
        try await run(3, .passed, [green("a")])
        #expect(try await tasks().map(\.state) == [.answered])
    }

    @Test func `a test that a retry mended is not red`() async throws {
        try await run(1, .passed, [green("a")])
        try await run(2, .flaky, [red("a"), RunSample.test("a", .passed, attempt: 2)])
        #expect(try await tasks().isEmpty)
    }

    @Test func `runs of changes, of tasks, and of other branches say nothing of the target`() async throws {
        try await run(1, .passed, [green("a")])
        try await run(2, .failed, [red("a")]) { $0.branch = "side" }
        try await run(3, .failed, [red("a")]) {
            $0.kind = .task(TaskRole(task: 1, part: .comparing, attempt: 1, workflow: "test"))
        }
        try await run(4, .failed, [red("a")]) { $0.change = RunSample.request().change }
        #expect(try await tasks().isEmpty)
    }

    @Test func `what fails in workflows that nobody named is left alone`() async throws {
        let bench = try await TaskBench { $0.sources = [.scheduledRun("nightly")] }
        let intake = FailureIntake(requests: bench.requests, sources: bench.sources, log: TaskBench.log)
        for (workflow, event) in [("weekly", Trigger.Event.schedule), ("nightly", .merge)] {
            let request = request(workflow, event, nonce: 1)
            let id = try await bench.index.completed(request, .failed, tests: [red("a")])
            await intake.take(.init(RunSample.report(id, request, verdict: .failed)), request, tests: [red("a")])
        }
        #expect(try await bench.index.tasks(TaskFilter(limit: 10)).isEmpty)
    }
}
