import Archive
import Engine
import Logging
import Pipeline

/// Red tests of a branch are run again in idle time: one that passes on the very same tree is flaky, and known as that
/// before it costs a change its verdict.
extension RunExecutor {
    /// How often the tests of one red run are run again, and how many of a step: more do not fail by chance.
    static let mostLearning = 3
    static let mostLearnt = 10
    /// How the reason ends for which such a run gives way.
    static let overtaken = "which has priority"

    /// Asks for the red tests of a run of the branch itself to be run again, step by step, while the box has nothing else
    /// to do.
    func learn(from report: Report, _ request: RunRequest, _ tests: [TestResult]) async {
        guard options.refreshesBases, report.change == nil, report.trust == .merged, report.branch != nil,
            !request.runsAtMostOnce, request.parameters.isEmpty,
            request.upkeep == .learn
                ? true : report.verdict == .failed && !request.isPartial && request.upkeep != .bisect
        else { return }
        if request.upkeep == .learn, report.verdict == .cancelled {
            // The same again where work came that somebody waits for, until a newer red run takes its place. What a person
            // has cancelled stays so.
            if report.reason.hasSuffix(Self.overtaken) { await bases.wantTarget(request) }
            return
        }
        let number = (request.learning ?? 0) + 1
        guard number <= Self.mostLearning else { return }
        for step in report.steps where step.runsNamedTests == true && step.status == .failed {
            guard step.standsFor == nil, step.attempts.last?.exitCode.map({ $0 > 0 && $0 < 126 }) == true else {
                continue
            }
            let failed = Runner.failures(among: step.tests?.of(tests) ?? [])
            guard !failed.isEmpty, failed.count <= Self.mostLearnt else { continue }
            await bases.wantTarget(.learning(number, step.name, failed, as: request))
        }
    }
}

extension RunRequest {
    /// The same commit once more, of one step and these tests alone.
    static func learning(_ number: Int, _ step: String, _ tests: [TestResult], as red: RunRequest) -> RunRequest {
        let branch = red.branch ?? ""
        var request = RunRequest(
            repository: red.repository, workflow: red.workflow, event: .push, ref: "refs/heads/\(branch)",
            branch: branch,
            head: red.head, definitionCommit: red.definitionCommit, onlySteps: [step],
            nonce: "learn \(number) of \(step)",
            subject: "retry of failing tests on \(branch) in \(step)", concurrency: .latestOnly)
        request.onlyTests = tests.map { KnownTest(suite: $0.suite, name: $0.name, file: $0.file) }
        (request.upkeep, request.learning) = (.learn, number)
        return request
    }
}
