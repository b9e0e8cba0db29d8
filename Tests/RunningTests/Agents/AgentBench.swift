import Concurrency
import Engine
import Foundation
import Git
import Pipeline
import ProofKeys
import Results
import RunSamples
import Secrets
import StateFiles
import Store
import Synchronization
import Testing
import WorkflowPrograms

@testable import Preparing
@testable import Running
@testable import Watching
@testable import Workspaces

/// A task with one agent, whose lines a test chooses, in a repository without workflows.
final class AgentBench: Sendable {
    let phases: PhaseBench
    private struct State {
        var record: TaskRecord
        var events: [TaskEvent] = []
        var log = ""
        var trials: [RunRequest] = []
    }

    private let state: Mutex<State>

    var record: TaskRecord { state.withLock { $0.record } }

    struct Ended {
        var outcome: RunOutcome
        var result: TaskOutcome?
    }

    private init(_ bench: PhaseBench, secrets: [String]) {
        var rules = TasksDeclaration(
            branch: "main", agents: [AgentCommand("ours", plan: "true", work: "true")], workflows: ["test"])
        rules.timeout = 60
        rules.secrets = secrets
        let record = TaskRecord(
            id: 12, repository: "alpha", branch: "main", title: "Total is wrong", text: "It is 1 too high.",
            source: .person, reporter: "ada", key: "k", createdAt: RunSample.start, commit: bench.tip.commit,
            rules: rules)
        state = Mutex(State(record: record))
        var phases = bench
        phases.options.allowsUnsandboxed = true
        self.phases = phases
    }

    static func with(
        secrets: [String: String] = [:], _ body: (AgentBench) async throws -> Void
    ) async throws {
        try await PhaseBench.with { phases in
            for (name, value) in secrets { try SecretStores(state: phases.state).set(name, to: Array(value.utf8)) }
            let bench = AgentBench(phases, secrets: secrets.keys.sorted())
            bench.add(.created)
            let plan = TaskPlan(version: 1, summary: "", approach: "", files: ["file"], tests: [], tradeoffs: "")
            bench.add(.planned(plan: plan, run: 1))
            bench.add(.planApproved(version: 1, reason: nil))
            try await body(bench)
        }
    }

    func add(_ what: TaskEvent.What) {
        state.withLock { state in
            state.events.append(
                TaskEvent(task: 12, number: state.events.count + 1, at: RunSample.start, by: "ada", what: what))
        }
    }

    /// Runs that an agent asks for pass at once.
    private var trials: TaskTrials {
        let phases = phases
        return TaskTrials(
            runToEnd: { request in
                self.state.withLock { $0.trials.append(request) }
                let run = try await phases.index.enqueue(request).run
                _ = try await phases.index.markRunning(run.id)
                _ = await phases.recorder.record(RunSample.report(run.id, request), request)
                return run.id
            }, tests: { names, _ in names.map { KnownTest(suite: "", name: $0) } })
    }

    /// What agents asked to have tested.
    var tried: [RunRequest] { state.withLock { $0.trials } }

    private var history: TaskRecords {
        TaskRecords(
            record: { _ in self.record }, events: { _ in self.state.withLock { $0.events } })
    }

    func work(_ line: String, attempt: Int = 1, onTopOf mended: TaskTry? = nil) async throws -> Ended {
        state.withLock { $0.record.rules.agents[0].work = line }
        return try await run(
            .working(record, by: "ours", attempt: attempt, tip: phases.tip.commit, onTopOf: mended))
    }

    func plan(_ line: String) async throws -> Ended {
        state.withLock { $0.record.rules.agents[0].plan = line }
        return try await run(.planning(record, by: "ours", version: 1, repetition: 1, tip: phases.tip.commit))
    }

    private func run(_ request: RunRequest) async throws -> Ended {
        let task = try await phases.task { $0 = request }
        let tested: (commit: String, tree: String) = try await withRepository(at: phases.repository.store) { store in
            let commit = try store.commit(#require(OID(hex: request.head)))
            return (commit.id.hex, commit.tree.hex)
        }
        let role = try #require(request.task)
        let plan = try Plan(of: role, in: record, within: Plan(workflow: "test", steps: []))
        var prepared = try RunSample.prepared(request, RunSample.declaration(), plan.steps, tested: tested)
        prepared.definition.commit = phases.tip.commit
        prepared.program = WorkflowProgram(
            key: "", executable: "/none",
            description: {
                var description = ProgramDescription(workflows: [prepared.declaration])
                description.rules = [Rule("nothing", forbids: "x", says: "RULES.txt")]
                return description
            }(), directory: "/none", reads: [], programSandbox: .none, environment: [:], limits: ProgramLimits())
        (prepared.task, prepared.trust) = (record, .change)
        let proofs = RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
        var bench = phases
        (bench.history, bench.trials) = (history, trials)
        let provide = try bench.provide()
        let provided = try await provide.provide(task, prepared, proofs)
        var outcome = await bench.execute.execute(task, prepared, proofs, provided, journal: nil)
        let closed = await provide.close(provided, task, prepared, outcome: &outcome)
        let logs = "\(task.place.folder)/logs"
        let log = try FileManager.default.contentsOfDirectory(atPath: logs).first { $0.hasSuffix(".log") }
        let text = log.flatMap { FileManager.default.contents(atPath: "\(logs)/\($0)") } ?? Data()
        state.withLock { $0.log = String(decoding: text, as: UTF8.self) }
        await bench.release.release(closed.place, task, report: nil)
        return Ended(outcome: outcome, result: closed.task)
    }

    /// The log of the newest run.
    var log: String { state.withLock { $0.log } }

    func commit(_ made: TaskTry) async throws -> (commit: Commit, kept: OID?) {
        try await withRepository(at: phases.repository.store) { store in
            (try store.commit(#require(OID(hex: made.commit))), try? store.resolve(made.ref))
        }
    }

    /// The refs of tries.
    func refs() async throws -> [String] {
        try await withRepository(at: phases.repository.store) {
            try $0.snapshot(under: TaskCommit.refs).refs.keys.sorted()
        }
    }
}
