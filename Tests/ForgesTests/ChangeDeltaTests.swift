import Diagnostics
import Foundation
import Pipeline
import Reports
import Results
import TestSupport
import Testing

@testable import Forges

@Suite struct ChangeDeltaTests {
    /// The change adds line 3; the target put two lines in front of all of that, which the tested tree has.
    private static let delta = ChangeDelta(
        change: [
            ChangeDelta.Hunk(
                path: "a.swift", oldPath: "old.swift", oldStart: 1, newStart: 1,
                text: " one\n two\n+three\n four\n-five")
        ],
        merge: [ChangeDelta.Hunk(path: "a.swift", oldPath: "a.swift", oldStart: 1, newStart: 1, text: "-x\n-y\n one")])

    @Test func `a line of the tested tree is found in the head`() {
        #expect(Self.delta.headLine("a.swift", tested: 5) == 3)
        #expect(Self.delta.headLine("a.swift", tested: 3) == 1)
        // The target's own lines are not in the head.
        #expect(Self.delta.headLine("a.swift", tested: 1) == nil)
        #expect(Self.delta.headLine("b.swift", tested: 7) == 7)
    }

    @Test func `only lines that the forge shows have a place`() {
        let added = Self.delta.place("a.swift", tested: 5)
        #expect(added == ChangeDelta.Place(path: "a.swift", oldPath: "old.swift", line: 3, oldLine: nil))
        #expect(Self.delta.place("a.swift", tested: 6)?.oldLine == 3)
        #expect(Self.delta.place("a.swift", tested: 7) == nil)
        #expect(Self.delta.place("b.swift", tested: 1) == nil)
        #expect(Self.delta.touches("a.swift") && !Self.delta.touches("old.swift"))
    }

    @Test func `where the difference was cut, nothing is claimed`() {
        let cut = ChangeDelta(
            change: [], merge: [ChangeDelta.Hunk(path: "m", oldPath: "m", oldStart: 9, newStart: 9, text: "+x")],
            isMergeCut: true)
        #expect(cut.headLine("a", tested: 4) == 4)
        #expect(cut.headLine("m", tested: 4) == nil)
        #expect(cut.headLine("z", tested: 4) == nil)
    }

    @Test func `annotations on lines of the change come first, then those in its files, at the head's lines`() {
        var report = Sample.report(3)
        report.findings = [
            Finding(rule: "far", severity: .error, message: "m", file: "z.swift", line: 1),
            Finding(rule: "near", severity: .error, message: "m", file: "a.swift", line: 90),
            Finding(rule: "in", severity: .warning, message: "m", file: "a.swift", line: 5),
        ]
        let found = CheckRenderer.annotations(ReportDocument(report: report), Self.delta)
        #expect(found.map(\.title) == ["in", "near", "far"])
        #expect(found.map(\.line) == [3, 88, 1])
    }
}

@Suite struct ButtonTests {
    private func facts(_ state: RunState, _ verdict: Verdict?, held: String? = nil, step: StepStatus = .failed)
        -> ForgeRunFacts
    {
        var summary = RunSummary(
            id: 3, repository: "r", workflow: "test", event: .pullRequest, ref: "refs/heads/x", branch: "main",
            head: String(repeating: "1", count: 40), state: state, verdict: verdict, createdAt: Date())
        summary.heldFor = held
        var report = Sample.report(3)
        report.steps = [StepRecord(name: "s", command: "c", status: step)]
        return ForgeRunFacts(
            summary: summary, document: state == .ended ? ReportDocument(report: report) : nil, hasButtons: true)
    }

    @Test func `a button is there only where it can do something`() {
        #expect(CheckRenderer.check(facts(.ended, .failed)).actions == [.rerun, .rerunFailed])
        #expect(CheckRenderer.check(facts(.ended, .failed, step: .passed)).actions == [.rerun])
        #expect(CheckRenderer.check(facts(.ended, .passed)).actions == [.rerun])
        #expect(CheckRenderer.check(facts(.ended, .superseded)).actions == [])
        #expect(CheckRenderer.check(facts(.ended, .conflict)).actions == [])
        #expect(CheckRenderer.check(facts(.running, nil)).actions == [])
        #expect(CheckRenderer.check(facts(.queued, nil, held: "deploy")).actions == [.approve])
        #expect(CheckRenderer.check(facts(.running, nil, held: "deploy")).actions == [.approve])
    }

    @Test func `without a way for presses to come in there are no buttons`() {
        var facts = facts(.ended, .failed)
        facts.hasButtons = false
        #expect(CheckRenderer.check(facts).actions == [])
    }

    @Test func `the steps so far are listed, failed ones first, and escaped`() {
        let steps = [
            ForgeRunFacts.Step(name: "wait", status: .waiting), ForgeRunFacts.Step(name: "run", status: .running),
            ForgeRunFacts.Step(name: "@octo fixes #1", status: .passed, seconds: 2),
            ForgeRunFacts.Step(name: "bad", status: .failed, seconds: 1),
        ]
        let lines = CheckRenderer.progress(steps).split(separator: "\n")
        #expect(lines.map { $0.contains("`bad`") } == [true, false, false, false])
        #expect(lines[1].contains("`run`") && lines[2].contains("`@octo fixes #1`") && lines[3].contains("`wait`"))
        let many = (1...5_000).map { ForgeRunFacts.Step(name: "s\($0)", status: .passed) }
        #expect(CheckRenderer.progress(many).split(separator: "\n").count == 101)
    }
}
