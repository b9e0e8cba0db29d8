@testable import Workspaces
import Control
import Engine
@testable import Store
import Results
import Foundation
import Logging
import Pipeline
import Synchronization
import Testing
@testable import Daemon
import RunSamples
@testable import Running
@testable import Watching

/// What follows from a recorded run: background runs, causes, states of changes.
@Suite(.timeLimit(.minutes(1))) struct FollowUpTests {
    private let log = Logger(label: "test")

    private func recorded(
        _ report: Report, _ request: RunRequest, tests: [TestResult] = []
    ) -> RecordedRun {
        RecordedRun(
            report: report, request: request, tests: tests,
            repository: WatchedRepository(
                name: "alpha", location: "/none", gitDirectory: "/none", store: "/none", isRemote: false))
    }

    /// A red run of main with one step that ran named tests, of which one failed.
    private func red(_ change: (inout RunRequest) -> Void = { _ in }) -> RecordedRun {
        var request = RunSample.request(change: nil)
        change(&request)
        var step = RunSample.step("unit", .failed)
        (step.runsNamedTests, step.tests) = (true, TestSpan(first: 0, count: 1))
        step.attempts = [AttemptRecord(number: 1, startedAt: RunSample.start, status: .failed, exitCode: 1)]
        let report = RunSample.report(3, request, verdict: .failed, steps: [step])
        return recorded(report, request, tests: [RunSample.test("a", .failed)])
    }

    @Test func `a red run of the branch asks for its failing tests again, three times at most`() {
        let probes = FlakeProbe.probes(after: red())
        #expect(probes.map(\.kind) == [.flakeProbe(1)])
        #expect(probes.first?.onlyTests?.map(\.name) == ["a"])
        for (number, count) in [(1, 1), (2, 1), (3, 0)] {
            let again = red { $0.kind = .flakeProbe(number) }
            #expect(FlakeProbe.probes(after: again).count == count)
        }
    }

    @Test func `a preempted probe comes back and a cancelled one does not`() {
        var run = red { $0.kind = .flakeProbe(1) }
        var report = run.report
        // The sentence of the reason decides nothing.
        (report.verdict, report.reason) = (.cancelled, "run 9 came, which somebody waits for")
        run = recorded(report, run.request)
        #expect(FlakeProbe.probes(after: run).isEmpty)
        run.wasPreempted = true
        #expect(FlakeProbe.probes(after: run) == [run.request])
    }

    @Test func `a red bisection run asks for nothing`() {
        #expect(FlakeProbe.probes(after: red { $0.kind = .bisect }).isEmpty)
    }

    @Test func `merged code that failed in a warm workspace is tested from nothing`() async throws {
        let index = try await RunSample.index()
        let work = BackgroundWork(
            index: index, snapshots: SnapshotStore(folder: "/none", limit: 0, log: log), log: log, freeBytes: { .max }
        ) { try await index.enqueue($0) }
        var run = red()
        var report = run.report
        report.base = Report.Base(run: 1, commit: "", changedFiles: 0)
        run = recorded(report, run.request)
        #expect(!work.wants(.recorded(run)), "one look makes no background runs")
        work.settings = .init(makesSnapshots: true, runsTargets: true)
        #expect(work.wants(.recorded(run)))
        await work.receive(.recorded(run))
        #expect(try await index.queued().map(\.request.background) == [.cleanBuild])
    }

    @Test func `a wanted run of the target is queued once`() async throws {
        let index = try await RunSample.index()
        let work = BackgroundWork(
            index: index, snapshots: SnapshotStore(folder: "/none", limit: 0, log: log), log: log, freeBytes: { .max }
        ) { try await index.enqueue($0) }
        work.settings = .init(runsTargets: true)
        var run = recorded(RunSample.report(), RunSample.request())
        run.wantedRuns = [
            .warmUp("test", repository: "alpha", branch: "main", commit: RunSample.commit(0), definition: "")
        ]
        await work.receive(.recorded(run))
        await work.receive(.recorded(run))
        #expect(try await index.queued().map(\.request.head) == [RunSample.commit(0)])
    }

    @Test func `a new failure of the branch is bisected, and a known one is not`() async throws {
        let index = try await RunSample.index()
        let asked = Mutex<[String]>([])
        let listener = CauseListener(index: index, log: log) { request in asked.withLock { $0.append(request.test) } }
        var run = red()
        #expect(listener.wants(.recorded(run)))
        await listener.receive(.recorded(run))
        #expect(asked.withLock { $0 }.isEmpty, "its workflow does not ask for it")
        run.bisectsWhenRed = true
        await listener.receive(.recorded(run))
        #expect(asked.withLock { $0 } == ["S/a"])
        #expect(!listener.wants(.recorded(red { $0.kind = .bisect })))
    }

    @Test func `a change in conflict is marked for its target's next move`() async throws {
        let index = try await RunSample.index()
        let change = ChangeRecord(
            name: "7", target: "main", head: RunSample.commit(1), targetCommit: RunSample.commit(0), state: .open,
            title: "", author: "ada")
        try await index.setChange(change, of: "alpha")
        let listener = ChangeStateListener(index: index, log: log)
        let passed = recorded(RunSample.report(), RunSample.request())
        #expect(!listener.wants(.recorded(passed)))
        let conflict = recorded(RunSample.report(verdict: .conflict), RunSample.request())
        #expect(listener.wants(.recorded(conflict)))
        await listener.receive(.recorded(conflict))
        #expect(try await index.change("7", of: "alpha")?.state == .conflict)
    }

    @Test func `a clone gets no notes`() {
        var run = recorded(RunSample.report(), RunSample.request())
        #expect(NoteListener(log: log).wants(.recorded(run)))
        var clone = run.repository
        clone.clone = "/clone"
        run = RecordedRun(report: run.report, request: run.request, repository: clone)
        #expect(!NoteListener(log: log).wants(.recorded(run)))
    }
}
