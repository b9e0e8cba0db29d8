@testable import Workspaces
import Engine
import Reports
import Store
import Results
import Foundation
import TestIntegrity
import Logging
import Pipeline
import Testing
@testable import Evaluating
import RunSamples

/// What each contributor adds to a report, on an index in memory.
@Suite(.timeLimit(.minutes(1))) struct ContributorTests {
    private let log = Logger(label: "test")

    private func draft(
        _ report: Report = RunSample.report(), _ tests: [TestResult] = []
    ) -> ReportDraft { ReportDraft(report: report, tests: tests) }

    @Test func `a test that failed and passed on the same tree is counted once and named flaky`() async throws {
        var draft = draft(
            RunSample.report(), [RunSample.test("a", .failed), RunSample.test("a", .passed, attempt: 2)])
        let run = try RunSample.finished()
        await TestCountContributor().contribute(to: &draft, of: run)
        await FlakyTestContributor(index: try await RunSample.index()).contribute(to: &draft, of: run)
        #expect(draft.report.testCounts.total == 1)
        #expect(draft.report.testCounts.failed == 0)
        #expect(draft.report.findings.map(\.rule) == ["flaky-test"])
        #expect(draft.report.findings.first?.file == "Tests/S.swift")
    }

    @Test func `a test that keeps failing is not flaky`() async throws {
        var draft = draft(
            RunSample.report(verdict: .failed),
            [RunSample.test("a", .failed), RunSample.test("a", .failed, attempt: 2)])
        let run = try RunSample.finished()
        await FlakyTestContributor(index: try await RunSample.index()).contribute(to: &draft, of: run)
        #expect(draft.report.findings.isEmpty)
    }

    @Test func `a failure without a run of the target asks for one`() async throws {
        let contributor = TargetComparisonContributor(index: try await RunSample.index(), reports: ReportShelf())
        var draft = draft(RunSample.report(verdict: .failed), [RunSample.test("a", .failed)])
        await contributor.contribute(to: &draft, of: try RunSample.finished())
        #expect(draft.wantedRuns.map(\.background) == [.warmUp])
        #expect(draft.wantedRuns.map(\.head) == [RunSample.commit(0)])
        #expect(draft.report.comparison == nil)
    }

    @Test func `a failure that the target has, too, is compared and blamed on the target`() async throws {
        let index = try await RunSample.index()
        var target = RunSample.request(change: nil)
        target.head = RunSample.commit(0)
        let there = try await index.completed(target, .failed, tests: [RunSample.test("a", .failed)])
        let contributor = TargetComparisonContributor(index: index, reports: ReportShelf())
        let run = try RunSample.finished(9)
        var draft = draft(
            RunSample.report(9, verdict: .failed, steps: []), [RunSample.test("a", .failed)])
        draft.report.testCounts = TestCounts(draft.tests)
        await contributor.contribute(to: &draft, of: run)
        #expect(draft.report.comparison?.against == there)
        #expect(draft.report.comparison?.alsoFailing.count == 1)
        #expect(draft.wantedRuns.isEmpty, "the target's very commit was run")
        let before = draft.report.reason
        await BlameContributor().contribute(to: &draft, of: run)
        #expect(draft.report.reason != before && draft.report.reason.contains("run \(there)"))
    }

    @Test(arguments: [Verdict.cancelled, .superseded])
    func `a run that was stopped is compared with nothing`(_ verdict: Verdict) async throws {
        let contributor = TargetComparisonContributor(index: try await RunSample.index(), reports: ReportShelf())
        var draft = draft(RunSample.report(verdict: verdict), [RunSample.test("a", .failed)])
        await contributor.contribute(to: &draft, of: try RunSample.finished())
        #expect(draft.wantedRuns.isEmpty)
    }

    @Test func `a breach makes a run that passed need approval, and only that`() async throws {
        let contributor = IntegrityContributor(
            index: try await RunSample.index(), log: log, now: { RunSample.start })
        let breach = Breach(.removedTest, test: "S.a", message: "S.a is gone", file: "Tests/S.swift", line: 3)
        var run = try RunSample.finished(1, RunSample.request(), RunSample.declaration { $0.integrity = [.standard] })
        run.sources = IntegrityOutcome(breaches: [breach])
        for (verdict, expected) in [(Verdict.passed, Verdict.needsApproval), (.failed, .failed)] {
            var draft = draft(RunSample.report(verdict: verdict))
            await contributor.contribute(to: &draft, of: run)
            #expect(draft.report.verdict == expected)
            #expect(draft.report.integrity?.breaches == 1)
            #expect(draft.report.findings.map(\.rule) == ["integrity-removed-test"])
            #expect(draft.report.approvals?.map(\.askedAt) == (verdict == .passed ? [RunSample.start] : nil))
        }
    }

    @Test func `a change whose sources are clean is only noted as looked at`() async throws {
        var run = try RunSample.finished(1, RunSample.request(), RunSample.declaration { $0.integrity = [.standard] })
        run.sources = IntegrityOutcome(breaches: [])
        var draft = draft()
        let contributor = IntegrityContributor(index: try await RunSample.index(), log: log)
        await contributor.contribute(to: &draft, of: run)
        #expect(draft.report.integrity?.breaches == 0)
        #expect(draft.report.verdict == .passed)
    }

    @Test func `a fix that loses a test of the failed run fails`() async throws {
        let index = try await RunSample.index()
        let failed = try await index.completed(
            RunSample.request(), .failed, tests: [RunSample.test("a", .failed), RunSample.test("b", .passed)])
        var request = RunSample.request(nonce: "check")
        request.kind = .fix(FixRole(of: failed, attempt: 1, last: 1, mayPush: false, maker: 5))
        var draft = draft(RunSample.report(9, request), [RunSample.test("b", .passed)])
        draft.report.fix = request.fix.map(FixRecord.init)
        await FixCheckContributor(index: index).contribute(to: &draft, of: try RunSample.finished(9, request))
        #expect(draft.report.verdict == .failed)
        #expect(draft.report.findings.map(\.rule) == ["integrity-removed-test"])
    }

    @Test func `only a failed run of a change whose workflow names a fixer wants a fix`() async throws {
        let contributor = FixWishContributor(index: try await RunSample.index(), log: log)
        for (verdict, request) in [
            (Verdict.passed, RunSample.request()), (.failed, RunSample.request(change: nil)),
        ] {
            var draft = draft(RunSample.report(1, request, verdict: verdict))
            let declaration = RunSample.declaration { $0.fix = Fix(by: "true") }
            await contributor.contribute(to: &draft, of: try RunSample.finished(1, request, declaration))
            #expect(draft.report.fixes == nil)
        }
    }

    @Test func `a fixer at work is judged by no contributor that looks at tests`() async throws {
        struct Mark: ReportContributor {
            let rule: String
            func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
                draft.report.findings.append(Finding(rule: rule, severity: .note, message: rule))
            }
        }
        let evaluation = Evaluation(always: [Mark(rule: "always")], judging: [Mark(rule: "judging")])
        var fixing = RunSample.request()
        fixing.kind = .fix(FixRole(of: 1, attempt: 1, last: 1, mayPush: false))
        for (request, rules) in [(RunSample.request(), ["always", "judging"]), (fixing, ["always"])] {
            var draft = draft(RunSample.report(2, request))
            await evaluation.evaluate(&draft, of: try RunSample.finished(2, request))
            #expect(draft.report.findings.map(\.rule) == rules)
        }
    }
}

/// What a run from nothing says about the warm run of the same tree.
@Suite(.timeLimit(.minutes(1))) struct WarmDifferenceTests {
    private func request() -> RunRequest {
        var request = RunSample.request(change: nil)
        request.kind = .cleanBuild(of: 1, hasFailed: false)
        return request
    }

    private func findings(warm: Report, clean: Report) async throws -> [Finding] {
        let log = Logger(label: "test")
        let contributor = WarmDifferenceContributor(
            reports: ReportShelf(reports: [1: warm]), snapshots: SnapshotStore(folder: "/none", limit: 0, log: log),
            log: log)
        var draft = ReportDraft(report: clean)
        await contributor.contribute(to: &draft, of: try RunSample.finished(2, request()))
        return draft.report.findings
    }

    private func warm(_ verdict: Verdict, _ steps: [StepRecord] = []) -> Report {
        var report = RunSample.report(1, RunSample.request(change: nil), verdict: verdict, steps: steps)
        report.base = Report.Base(run: 0, commit: "", changedFiles: 0)
        return report
    }

    @Test func `a failure that only shows from nothing is an error`() async throws {
        let clean = RunSample.report(2, request(), verdict: .failed, steps: [RunSample.step("unit", .failed)])
        let found = try await findings(warm: warm(.passed, [RunSample.step("unit", .passed)]), clean: clean)
        #expect(found.map(\.rule) == [Report.warmDiffers])
        #expect(found.map(\.severity) == [.error])
    }

    @Test func `verdicts of two machines say nothing about snapshots`() async throws {
        var clean = RunSample.report(2, request(), verdict: .failed, steps: [RunSample.step("unit", .failed)])
        clean.machine = "mini"
        #expect(try await findings(warm: warm(.passed, [RunSample.step("unit", .passed)]), clean: clean).isEmpty)
    }

    @Test func `a failure that only shows in the warm workspace is a warning that names the step`() async throws {
        let clean = RunSample.report(2, request(), steps: [RunSample.step("unit", .passed)])
        let found = try await findings(warm: warm(.failed, [RunSample.step("unit", .failed)]), clean: clean)
        #expect(found.map(\.severity) == [.warning])
        #expect(found.first?.message.contains("unit") == true)
    }

    @Test func `the same verdict and another tree say nothing`() async throws {
        let clean = RunSample.report(2, request())
        #expect(try await findings(warm: warm(.passed), clean: clean).isEmpty)
        var other = warm(.failed, [RunSample.step("unit", .failed)])
        other.testedTree = RunSample.commit(1)
        let passed = RunSample.report(2, request(), steps: [RunSample.step("unit", .passed)])
        #expect(try await findings(warm: other, clean: passed).isEmpty)
    }
}
