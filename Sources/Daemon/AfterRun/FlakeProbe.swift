import Running
import Store
import Engine
import Results
import Pipeline

/// Runs the failed tests of a branch again in idle time. One that passes on the same tree is flaky, and this is known
/// before it costs a change its verdict.
struct FlakeProbe: RunListener {
    /// How often the tests of one failed run are run again.
    static let mostProbes = 3
    /// The most failed tests of one step that are run again: more do not fail by chance.
    static let mostTests = 10

    /// Queues a background run.
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

    /// A probe only saves time, and the next failed run requests another one.
    func missed(_ count: Int) async {}

    /// The probes that a failed run of the branch itself requests, for each step.
    static func probes(after run: RecordedRun) -> [RunRequest] {
        let (report, request) = (run.report, run.request)
        guard report.change == nil, report.trust == .merged, report.branch != nil, !request.runsAtMostOnce,
            request.parameters.isEmpty
        else { return [] }
        var number = 1
        if case .flakeProbe(let earlier) = request.kind {
            // The same probe again if a requested run preempted it. One that a person cancelled stays cancelled.
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
    /// The same commit again, with only one step and these tests.
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
