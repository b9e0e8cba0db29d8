import Engine
import Evaluating
import Git
import MCP
import Masking
package import Pipeline
import Preparing
package import Results
import Store
import Synchronization
import Watching

/// Starts runs for the agents of tasks while they work.
package struct TaskTrials: Sendable {
    /// Starts a run and waits for its report; cancels the run if the caller is cancelled.
    let runToEnd: @Sendable (_ request: RunRequest) async throws -> RunID
    /// The tests that names mean.
    let tests: @Sendable (_ names: [String], _ repository: String) async throws -> [KnownTest]

    package init(
        runToEnd: @escaping @Sendable (_ request: RunRequest) async throws -> RunID,
        tests: @escaping @Sendable (_ names: [String], _ repository: String) async throws -> [KnownTest]
    ) {
        self.runToEnd = runToEnd
        self.tests = tests
    }
}

/// Tests the files of an agent's workspace as they are, while the agent works. Such a run says nothing about a try: the
/// agent may change the files afterwards.
final class TaskTrial: Sendable {
    /// How often one agent may ask in one run.
    static let most = 20
    /// The longest wait for a verdict. The run is cancelled then: the agent holds a slot, and others may hold the rest.
    private static let patience = Duration.seconds(20 * 60)

    struct Ended: Sendable {
        var run: RunID
        var verdict: Verdict
        var reason: String
    }

    private let trials: TaskTrials
    private let index: Store.Index
    private let record: TaskRecord
    private let request: RunRequest
    private let repository: WatchedRepository
    private let view: String
    private let scan: WorkspaceScan
    private let harvest: WorkHarvest
    private let state = Mutex((count: 0, isRunning: false, runs: [RunID]()))

    /// - Parameter request: The agent's own run.
    init(
        _ trials: TaskTrials, index: Store.Index, record: TaskRecord, request: RunRequest,
        repository: WatchedRepository, view: String, scan: WorkspaceScan, harvest: WorkHarvest
    ) {
        self.trials = trials
        self.index = index
        self.record = record
        self.request = request
        self.repository = repository
        self.view = view
        self.scan = scan
        self.harvest = harvest
    }

    /// The runs that ended.
    var runs: [RunID] { state.withLock { $0.runs } }

    /// - Throws: ``ToolFailure``, which the agent reads.
    func run(steps: [String], tests: [String]) async throws -> Ended {
        // They are recorded with the run.
        for name in steps + tests {
            if let secret = harvest.masker?.secret(in: name) {
                throw ToolFailure("a name contains secret \(secret); name steps and tests as reports do.")
            }
        }
        let number = try state.withLock { state in
            guard !state.isRunning else { throw ToolFailure("a run of your files goes on already; wait for it.") }
            guard state.count < Self.most else {
                throw ToolFailure("you have tried \(Self.most) times; run the tests in your workspace.")
            }
            (state.count, state.isRunning) = (state.count + 1, true)
            return state.count
        }
        defer { state.withLock { $0.isRunning = false } }
        let commit = try await commit()
        var trial = RunRequest.trying(record, of: request, commit: commit.hex, number: number)
        trial.onlySteps = steps.isEmpty ? nil : steps
        trial.onlyTests = tests.isEmpty ? nil : try await trials.tests(tests, record.repository)
        let wanted = trial
        let run = try await withThrowingTaskGroup(of: RunID?.self) { group in
            group.addTask { [trials] in try await trials.runToEnd(wanted) }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        guard let run, let summary = try await index.run(run)?.summary, let verdict = summary.verdict else {
            throw ToolFailure("the build box had no room for the run; run the tests in your workspace.")
        }
        state.withLock { $0.runs.append(run) }
        return Ended(run: run, verdict: verdict, reason: summary.reason ?? "")
    }

    /// A commit of the files as they are, kept by a ref until the next one.
    private func commit() async throws -> OID {
        let (harvest, scan, view) = (harvest, scan, view)
        let ref = TaskCommit.draftRef(of: record.id, attempt: request.task?.attempt ?? 0)
        let result = try await withRepository(at: repository.store) { store -> (OID?, String) in
            let taken = try harvest.take(since: scan, from: view, into: store)
            guard let tree = taken.tree else { return (nil, taken.reason) }
            let author = Signature(
                name: TaskCommit.name, email: FixCommit.address, time: try store.commit(harvest.head).committer.time)
            let commit = try store.createCommit(
                tree: tree, parents: [harvest.head], author: author, committer: author, message: "Draft\n")
            try store.setRef(ref, to: commit, message: "pipectl: draft")
            return (commit, "")
        }
        guard let commit = result.0 else { throw ToolFailure("there is nothing to test: \(result.1)") }
        return commit
    }
}
