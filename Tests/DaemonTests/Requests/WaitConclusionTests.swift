import Control
import Results
import Store
import Foundation
import Pipeline
import Testing
@testable import Daemon
@testable import Watching

struct WaitConclusionTests {
    private func run(
        _ id: RunID, _ state: WaitedRun.State, _ verdict: Verdict? = nil, failed: String? = nil, ended: Int = 0,
        steps: Int = 2
    ) -> WaitedRun {
        let summary = RunSummary(
            id: id, repository: "r", workflow: "w\(id)", event: .pullRequest, ref: "refs/pull/1/head", branch: "main",
            head: String(repeating: "a", count: 40), state: .queued, createdAt: Date())
        var run = WaitedRun(summary, subject: "change 1 into main", state: state)
        (run.verdict, run.failedStep, run.stepsEnded, run.steps) = (verdict, failed, ended, steps)
        return run
    }

    @Test func `a failure ends the wait while others run`() {
        let runs = [run(1, .running), run(2, .ended, .failed)]
        #expect(WaitConclusion(of: runs, end: .failure)?.run == 2)
        #expect(WaitConclusion(of: runs, end: .verdict) == nil)
    }

    @Test func `a failed step ends the wait only while other steps are left`() {
        let early = WaitConclusion(of: [run(1, .running, failed: "check", ended: 1)], end: .failure)
        #expect(early?.verdict == .failed && early?.isEarly == true)
        // The verdict is a moment away then, and says more.
        #expect(WaitConclusion(of: [run(1, .running, failed: "check", ended: 2)], end: .failure) == nil)
        #expect(WaitConclusion(of: [run(1, .running, failed: "check", ended: 1)], end: .verdict) == nil)
    }

    @Test(arguments: WaitRequest.End.allCases)
    func `open runs give no verdict`(end: WaitRequest.End) {
        #expect(WaitConclusion(of: [], end: end) == nil)
        #expect(WaitConclusion(of: [run(1, .ended, .passed), run(2, .queued)], end: end) == nil)
        #expect(WaitConclusion(of: [run(1, .ended, .infrastructure), run(2, .running)], end: end) == nil)
        #expect(WaitConclusion(of: [run(1, .needsApproval), run(2, .running)], end: end) == nil)
    }

    @Test(arguments: [
        ([Verdict.passed, .passed], Verdict.passed, Int32(0)), ([.passed, .flaky], .flaky, 6),
        ([.flaky, .infrastructure], .infrastructure, 3), ([.cancelled, .passed], .cancelled, 4),
        ([.conflict, .passed], .conflict, 1), ([.definitionError, .failed], .definitionError, 2),
        ([.notApplicable, .passed], .passed, 0),
    ])
    func theWorstOfAllDecides(verdicts: [Verdict], worst: Verdict, code: Int32) {
        let runs = verdicts.enumerated().map { run(RunID($0.offset + 1), .ended, $0.element) }
        let conclusion = WaitConclusion(of: runs, end: .verdict)
        #expect(conclusion?.verdict == worst && conclusion?.verdict.exitCode == code)
    }

    @Test func `only the caller decides to wait for an approval`() {
        let conclusion = WaitConclusion(of: [run(1, .needsApproval), run(2, .ended, .passed)], end: .failure)
        #expect(conclusion?.verdict == .needsApproval && conclusion?.run == 1)
    }

    @Test func `the estimate is the longest path through the remaining steps`() throws {
        let now = Date()
        func step(_ name: String, needs: [String] = [], _ status: StepStatus, since: Double? = nil) -> LiveRun.Step {
            var step = LiveRun.Step(record: StepRecord(name: name, command: "", needs: needs, status: status))
            step.startedAt = since.map { now.addingTimeInterval(-$0) }
            return step
        }
        let times = ["a": StepTime(median: 10, runs: 20), "b": StepTime(median: 30, runs: 7)]
        let steps = [step("b", needs: ["a"], .waiting), step("a", .running, since: 4), step("c", .passed)]
        let expected = try #require(StepExpectation(steps, times: times, at: now))
        #expect(abs(expected.end.timeIntervalSince(now) - 36) < 0.001 && expected.runs == 20)
        #expect(StepExpectation([step("unknown", .running)], times: times, at: now) == nil)
        let late = try #require(StepExpectation([step("a", .running, since: 60)], times: times, at: now))
        #expect(late.end == now, "longer than usual")
    }

    @Test(arguments: [
        ("git@host:team/repo.git", "ssh://git@host/team/repo"),
        ("https://host/team/repo.git/", "https://host/team/repo"),
        ("/srv/repo.git", "/srv/repo"), ("/home/a/repo/.git", "/home/a/repo"),
        ("file:///srv/repo.git", "/srv/repo.git"),
    ])
    func twoWaysToWriteAPlaceAreOne(one: String, other: String) {
        #expect(RepositoryPlace.key(one) == RepositoryPlace.key(other))
        #expect(RepositoryPlace.key(one) != RepositoryPlace.key(other + "x"))
    }

    /// Right after a change has landed without a merge commit, its own run and those of the branch are of one commit.
    @Test(arguments: [WaitRequest.End.failure, .verdict])
    func `of runs with the same verdict the one of the branch that is waited for decides`(end: WaitRequest.End) {
        for verdict in [Verdict.passed, .failed] {
            let runs = [run(1, .ended, verdict), run(2, .ended, verdict)]
            #expect(WaitConclusion(of: runs, end: end)?.run == 1)
            #expect(WaitConclusion(of: runs, end: end, own: [2])?.run == 2)
        }
        let worse = [run(1, .ended, .failed), run(2, .ended, .passed)]
        #expect(WaitConclusion(of: worse, end: end, own: [2])?.run == 1)
    }
}
