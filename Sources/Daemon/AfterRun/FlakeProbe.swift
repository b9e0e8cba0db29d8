import Running
import Store
import Engine
import Results
import Pipeline

/// Has the red tests of a branch run again in idle time: one that passes on the very same tree is flaky, and known as that
/// before it costs a change its verdict.
struct FlakeProbe: RunListener {
    /// How often the tests of one red run are run again.
    static let mostProbes = 3
    /// Failing tests of one step that are run again: more do not fail by chance.
    static let mostTests = 10

    /// Takes background runs.
    let enqueue: @Sendable (RunRequest) async -> Void
    let name = "flake probes"

    func wants(_ event: DaemonEvent) -> Bool {
        guard case .recorded(let run) = event else { return false }
        return !Self.probes(after: run).isEmpty
    }

    func receive(_ event: DaemonEvent) async {
        guard case .recorded(let run) = event else { return }
        for request in Self.probes(after: run) { await enqueue(request) }
    }

    /// A probe is a guess that saves time; the next red run asks for another one.
    func missed(_ count: Int) async {}

    /// The runs of single tests that a red run of the branch itself asks for, step by step.
    static func probes(after run: RecordedRun) -> [RunRequest] {
        let (report, request) = (run.report, run.request)
        guard report.change == nil, report.trust == .merged, report.branch != nil, !request.runsAtMostOnce,
            request.parameters.isEmpty
        else { return [] }
        var number = 1
        if case .flakeProbe(let earlier) = request.kind {
            // The same again where a run came that somebody waits for. A probe that a person cancelled stays cancelled.
            if report.verdict == .cancelled { return run.wasPreempted ? [request] : [] }
            number = earlier + 1
        } else {
            guard report.verdict == .failed, !request.isPartial, request.background != .bisect else { return [] }
        }
        guard number <= mostProbes else { return [] }
        return report.steps.compactMap { step in
            guard step.runsNamedTests == true, step.status == .failed, step.standsFor == nil,
                step.attempts.last?.exitCode.map({ $0 > 0 && $0 < 126 }) == true
            else { return nil }
            let failed = TestResults.lastFailures(among: step.tests?.of(run.tests) ?? [])
            guard !failed.isEmpty, failed.count <= mostTests else { return nil }
            return .flakeProbe(number, step.name, failed, as: request)
        }
    }
}

extension RunRequest {
    /// The same commit once more, of one step and these tests alone.
    static func flakeProbe(_ number: Int, _ step: String, _ tests: [TestResult], as red: RunRequest) -> RunRequest {
        let branch = red.branch ?? ""
        var request = RunRequest(
            repository: red.repository, workflow: red.workflow, event: .push, ref: "refs/heads/\(branch)",
            branch: branch,
            head: red.head, definitionCommit: red.definitionCommit, onlySteps: [step], kind: .flakeProbe(number),
            nonce: "learn \(number) of \(step)",
            subject: "retry of failing tests on \(branch) in \(step)", concurrency: .latestOnly)
        request.onlyTests = tests.map { KnownTest(suite: $0.suite, name: $0.name, file: $0.file) }
        return request
    }
}
