import Delivery
import ProofKeys
import Control
import Results
import Store
import Archive
import Engine
import Foundation
import Git
import Logging
import Pipeline
import Synchronization
import TestBasics
import TestSupport
import Testing

import Concurrency
@testable import Workspaces
@testable import Preparing
import RunSamples
@testable import Running
@testable import Watching

/// The phases of a run, each alone.
@Suite(.timeLimit(.minutes(1))) struct PhaseTests {
    private let pass = PlannedStep(name: "unit", action: .shell("cat file && test \"$PIPECTL_WORKFLOW\" = test"))
    private let fail = PlannedStep(name: "unit", action: .shell("echo half > made; exit 3"))

    // MARK: Approve

    private func question(_ task: RunTask) -> Approval {
        Approval(
            why: "unread code", head: task.request.head, definition: "d", binding: "b", askedAt: RunSample.start)
    }

    @Test func `approve: a question puts the run back into the queue`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            #expect(await bench.approval.hold(task, for: question(task), .change))
            let run = try await bench.index.run(task.id)
            #expect(run?.summary.state == .queued && run?.summary.heldFor == "unread code")
        }
    }

    @Test func `approve: a run that was stopped is not put back`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            task.stop.stop(StopRequest(.superseded, reason: "newer"))
            #expect(await !bench.approval.hold(task, for: question(task), .change))
            #expect(try await bench.index.run(task.id)?.summary.state == .running)
        }
    }

    // MARK: Provide, execute, release

    @Test func `execute: steps run in the commit's files, and the workspace is gone after the release`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let prepared = try bench.prepared(task, [pass])
            bench.monitor.began(task)
            bench.monitor.planned(prepared.plan, task.id)
            let proofs = RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
            let provided = try await bench.provide().provide(task, prepared, proofs)
            #expect(bench.exists("\(task.place.workspace)/file"))
            var outcome = await bench.execute.execute(task, prepared, proofs, provided, journal: nil)
            #expect(outcome.verdict == .passed, "\(outcome.reason)")
            #expect(bench.live.run(task.id)?.steps.map(\.record.status) == [.passed])
            let finished = try await bench.provide().close(provided, task, prepared, outcome: &outcome).place
            #expect(finished.isAllEnded)
            await bench.release.release(finished, task, report: RunSample.report(task.id, task.request))
            #expect(!bench.exists(task.place.workspace) && !bench.exists(task.place.folder))
            #expect(await bench.retained.all.isEmpty)
        }
    }

    @Test func `provide: a release whose secrets are not set ends the run before its steps`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            var release = PlannedStep(
                name: "release", action: .release(ReleasePlan(version: .counted("1"))), needs: ["unit"])
            release.secrets = [SecretUse("KEY_THAT_IS_NOT_SET"), SecretUse("OTHER_THAT_IS_NOT_SET")]
            var out = PlannedStep(name: "out", action: .publish(.folder("/srv")), needs: ["release"])
            out.secrets = [SecretUse("THIRD_THAT_IS_NOT_SET"), SecretUse("KEY_THAT_IS_NOT_SET")]
            let prepared = try bench.prepared(task, [pass, release, out])
            let proofs = RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
            let early = await #expect(throws: EarlyVerdict.self) {
                _ = try await bench.provide().provide(task, prepared, proofs)
            }
            #expect(early?.verdict == .infrastructure)
            for name in ["KEY_THAT_IS_NOT_SET", "OTHER_THAT_IS_NOT_SET", "THIRD_THAT_IS_NOT_SET"] {
                // In the sentence and in the command for it, for all steps that need it.
                #expect(early?.reason.ranges(of: name).count == 2)
            }
            #expect(!bench.exists(task.place.workspace))
        }
    }

    @Test(arguments: [
        (DeliveryProblem.Code.invalid, Verdict.failed), (.conflict, .failed), (.refused, .infrastructure),
    ])
    func `provide: a destination that can't be used ends the run before its steps`(
        code: DeliveryProblem.Code, verdict: Verdict
    ) async throws {
        try await PhaseBench.with { bench in
            var bench = bench
            bench.obstacle = code
            let task = try await bench.task()
            let out = PlannedStep(name: "out", action: .publish(.folder("/srv")), needs: ["unit"])
            var prepared = try bench.prepared(task, [pass, out])
            let proofs = RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
            prepared.trust = .merged
            let early = await #expect(throws: EarlyVerdict.self) {
                _ = try await bench.provide().provide(task, prepared, proofs)
            }
            #expect(early?.verdict == verdict)
            #expect(!bench.exists(task.place.workspace))
        }
    }

    @Test func `prepare: what publishes at a forge needs one, before its steps`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let release = PlannedStep(
                name: "release", action: .release(ReleasePlan(version: .counted("1"))), needs: ["unit"])
            func prepared(_ destination: Destination) throws -> RunPreparation {
                try bench.prepared(
                    task, [pass, release, PlannedStep(name: "out", action: .publish(destination), needs: ["release"])])
            }
            let check = ReleaseCheck(index: bench.index)
            try await check.check(try prepared(.folder("/srv")), task.request)
            let early = await #expect(throws: EarlyVerdict.self) {
                try await check.check(try prepared(.forge()), task.request)
            }
            #expect(early?.verdict == .infrastructure)
            try await bench.index.connectForge(task.request.repository, address: "a", location: "/alpha")
            try await check.check(try prepared(.packages(name: "app")), task.request)
        }
    }

    @Test func `prepare: what goes to TestFlight has a version that Apple takes`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let release = PlannedStep(
                name: "release", action: .release(ReleasePlan(version: .tag())), needs: ["unit"])
            let check = ReleaseCheck(index: bench.index)
            for (destination, version, verdict) in [
                (Destination.testFlight(TestFlight(app: "a", key: "K", keyID: "1")), "1.2.3.4", Verdict.failed),
                (.testFlight(TestFlight(app: "a", key: "K", keyID: "1")), "1.2.3-rc.1", nil),
                (.folder("/srv"), "1.2.3.4", nil),
            ] {
                var prepared = try bench.prepared(
                    task, [pass, release, PlannedStep(name: "out", action: .publish(destination), needs: ["release"])])
                prepared.version = ReleaseVersion(version: version, buildNumber: 4, tag: "v\(version)")
                do {
                    try await check.check(prepared, task.request)
                    #expect(verdict == nil)
                } catch let early as EarlyVerdict {
                    #expect(early.verdict == verdict)
                }
            }
        }
    }

    /// A release of a commit, and the plan of a run that makes version 1.5.
    private func release(
        _ version: String, _ commit: String, _ request: RunRequest, _ state: ReleaseRecord.State = .published
    ) -> ReleaseRecord {
        ReleaseRecord(
            repository: request.repository,
            version: ReleaseVersion(version: version, buildNumber: 4, tag: "v\(version)"), commit: commit, tree: "",
            committedAt: RunSample.start, workflow: "test", run: 1, madeAt: RunSample.start, state: state, notes: "",
            files: [])
    }

    private let version = PlannedStep(
        name: "release", action: .release(ReleasePlan(version: .counted("1"))), needs: ["unit"])

    @Test func `prepare: a version is of one commit`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            var prepared = try bench.prepared(task, [pass, version])
            let due = ReleaseDue(index: bench.index)
            for (name, commit) in [("1.4", bench.tip.commit), ("1.5", String(repeating: "c", count: 40))] {
                prepared.version = ReleaseVersion(version: name, buildNumber: 4, tag: "v\(name)")
                _ = try await due.settled(prepared, task.request, in: task.repository)
                _ = try await bench.index.addRelease(release(name, commit, task.request))
            }
            let early = await #expect(throws: EarlyVerdict.self) {
                _ = try await due.settled(prepared, task.request, in: task.repository)
            }
            #expect(early?.verdict == .failed)
            prepared.version?.version = "1.4"
            let settled = try await due.settled(prepared, task.request, in: task.repository)
            #expect(settled.plan == prepared.plan && settled.notes.isEmpty)
        }
    }

    @Test func `prepare: a draft that nobody saw does not keep its version`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            var prepared = try bench.prepared(task, [pass, version])
            prepared.version = ReleaseVersion(version: "1.5", buildNumber: 4, tag: "v1.5")
            let commit = String(repeating: "c", count: 40)
            _ = try await bench.index.addRelease(release("1.5", commit, task.request, .draft))
            let due = ReleaseDue(index: bench.index)
            let settled = try await due.settled(prepared, task.request, in: task.repository)
            #expect(settled.plan == prepared.plan)
            // A run that repeats the one that made it may still publish it.
            var other = task.request
            (other.head, other.subject, other.nonce) = (commit, "other", "again")
            _ = try await bench.index.enqueue(other)
            let early = await #expect(throws: EarlyVerdict.self) {
                _ = try await due.settled(prepared, task.request, in: task.repository)
            }
            #expect(early?.verdict == .failed)
        }
    }

    @Test func `prepare: a branch that moves on without a new version runs what is no release`() async throws {
        try await PhaseBench.with { bench in
            let first = try await bench.task()
            try await runCommand(
                "git", "-C", "\(bench.folder)/alpha", "-c", "user.name=Ada", "-c", "user.email=ada@example.com",
                "commit", "-q", "--allow-empty", "-m", "second")
            let next = try await withRepository(at: first.repository.gitDirectory) { git in
                let commit = try git.commit(git.resolve("refs/heads/main"))
                return (commit: commit.id.hex, tree: commit.tree.hex)
            }
            func settled(
                _ steps: [PlannedStep], _ state: ReleaseRecord.State = .published, by event: Trigger.Event = .merge
            ) async throws -> RunPreparation {
                var request = first.request
                request.event = event
                var prepared = try RunSample.prepared(
                    request, RunSample.declaration(), steps, tested: next)
                let name = "1.\(event.rawValue).\(state.rawValue)"
                prepared.version = ReleaseVersion(version: name, buildNumber: 4, tag: "v\(name)")
                _ = try await bench.index.addRelease(release(name, bench.tip.commit, request, state))
                return try await ReleaseDue(index: bench.index).settled(prepared, request, in: first.repository)
            }
            let out = PlannedStep(name: "out", action: .publish(.folder("/srv")), needs: ["release"])
            var upload = PlannedStep(name: "upload", action: .shell("true"), needs: ["unit"])
            upload.secrets = [SecretUse("TOKEN")]
            for event in [Trigger.Event.merge, .push, .schedule] {
                let rest = try await settled([pass, version, out, upload], by: event)
                #expect(rest.plan.steps.map(\.name) == ["unit"])
                #expect(rest.notes.map(\.rule) == [RunPreparation.releaseLeftOut])
                #expect(rest.version != nil && rest.wholePlan.steps.count == 4)
            }
            // A tag says the same of a version that no run released.
            var tagged = try RunSample.prepared(first.request, RunSample.declaration(), [pass, version])
            tagged.version = ReleaseVersion(version: "7", buildNumber: 4, tag: "v7")
            tagged.taggedBefore = OID(hex: bench.tip.commit)
            let rest = try await ReleaseDue(index: bench.index).settled(tagged, first.request, in: first.repository)
            #expect(rest.plan.steps.map(\.name) == ["unit"] && rest.whyWithoutRelease != nil)
            for event in [Trigger.Event.manual, .tag] {
                let early = await #expect(throws: EarlyVerdict.self) {
                    _ = try await settled([pass, version], by: event)
                }
                #expect(early?.verdict == .failed)
            }
            let early = await #expect(throws: EarlyVerdict.self) { _ = try await settled([pass, version], .yanked) }
            #expect(early?.verdict == .failed)
            let none = await #expect(throws: EarlyVerdict.self) { _ = try await settled([upload, version], .sealed) }
            #expect(none?.verdict == .notApplicable)
        }
    }

    @Test func `a run with a release names a repetition that releases nothing`() async throws {
        let out = PlannedStep(name: "out", action: .publish(.folder("/srv")), needs: ["release"])
        func repetition(of whole: String, _ steps: [PlannedStep], actsOnce: Bool = false) throws -> String {
            var ending = RunEnding(report: RunSample.report())
            ending.report.reproduce = whole
            let declaration = RunSample.declaration { if actsOnce { $0.triggers = [.merge(into: "main")] } }
            ending.take(try RunSample.prepared(RunSample.request(change: nil), declaration, steps))
            return ending.report.reproduce
        }
        let (whole, part) = ("pipectl run test --ref abc", "pipectl run test --ref abc --step out")
        #expect(try repetition(of: whole, [pass, version, out]) == "\(whole) --step unit")
        #expect(try repetition(of: part, [pass, version, out]) == "pipectl rerun 1")
        #expect(try repetition(of: whole, [pass]) == whole)
        // A step with secrets acts, too.
        var deploy = PlannedStep(name: "deploy", action: .shell("make deploy"), needs: ["unit"])
        deploy.secrets = [SecretUse("TOKEN")]
        #expect(try repetition(of: whole, [pass, deploy], actsOnce: true) == "\(whole) --step unit")
        #expect(try repetition(of: whole + " --step deploy", [pass, deploy], actsOnce: true) == "pipectl rerun 1")
    }

    @Test func `release: a failed run's workspace is retained, and a repetition goes on with it`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let prepared = try bench.prepared(task, [fail])
            let proofs = RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
            let provided = try await bench.provide().provide(task, prepared, proofs)
            var outcome = await bench.execute.execute(task, prepared, proofs, provided, journal: nil)
            #expect(outcome.verdict == .failed)
            let finished = try await bench.provide().close(provided, task, prepared, outcome: &outcome).place
            let report = RunSample.report(task.id, task.request, verdict: .failed, steps: outcome.steps)
            #expect(await bench.recorder.record(report, task.request))
            await bench.release.release(finished, task, report: report)
            #expect(await bench.retained.all.map(\.run) == [task.id])

            let again = try await bench.task {
                ($0.kind, $0.nonce) = (.rerun(RunKind.Rerun(of: task.id, resumes: true)), "again")
            }
            let next = try await bench.provide().provide(again, try bench.prepared(again, [fail]), proofs)
            #expect(next.place.findings.isEmpty && next.place.resumption != nil)
            #expect(bench.exists("\(again.place.workspace)/made"))
            await next.place.abandon()
        }
    }

    @Test func `release: a run without a report leaves nothing that others begin from`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let prepared = try bench.prepared(task, [fail])
            let proofs = RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
            let provided = try await bench.provide().provide(task, prepared, proofs)
            var outcome = await bench.execute.execute(task, prepared, proofs, provided, journal: nil)
            let finished = try await bench.provide().close(provided, task, prepared, outcome: &outcome).place
            await bench.release.release(finished, task, report: nil)
            #expect(await bench.retained.all.isEmpty)
            #expect(!bench.exists(task.place.workspace))
        }
    }

    @Test func `provide: unread code is refused where there is no sandbox`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task { request in
                request.change = RunSample.request().change
                request.ref = "refs/pull/7/head"
            }
            let prepared = try bench.prepared(task, [pass])
            let error = await #expect(throws: EarlyVerdict.self) {
                _ = try await bench.provide().provide(
                    task, prepared, RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts())))
            }
            #expect(error?.verdict == .infrastructure)
        }
    }

    // MARK: Record

    @Test func `record: a run gets exactly one verdict`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let passed = RunSample.report(task.id, task.request)
            #expect(await bench.recorder.record(passed, task.request))
            let failed = RunSample.report(task.id, task.request, verdict: .failed)
            #expect(await !bench.recorder.record(failed, task.request))
            #expect(try await bench.index.run(task.id)?.summary.verdict == .passed)
            #expect(try await bench.store.report(task.id).verdict == .passed)
        }
    }

    // MARK: All of them

    /// Notes what is recorded and what has ended.
    private final class Ear: RunListener {
        let name = "ear"
        let recorded = Mutex<[Verdict]>([])
        func wants(_ event: DaemonEvent) -> Bool { if case .recorded = event { true } else { false } }
        func receive(_ event: DaemonEvent) async {
            guard case .recorded(let run) = event else { return }
            recorded.withLock { $0.append(run.report.verdict) }
        }
        func missed(_ count: Int) async {}
    }

    @Test func `a run that can't be prepared is recorded, told and cleared away`() async throws {
        try await PhaseBench.with { bench in
            let (task, ear) = (try await bench.task(), Ear())
            let pipeline = try bench.pipeline()
            let report = try await bench.scheduler.events.deliver(to: [ear]) { await pipeline.run(task) }
            // The commit has no workflows/.
            #expect([.definitionError, .infrastructure].contains(report.verdict))
            #expect(try await bench.index.run(task.id)?.summary.verdict == report.verdict)
            #expect(ear.recorded.withLock { $0 } == [report.verdict])
            #expect(report.endedAt >= RunSample.start && report.endedAt < RunSample.start + 60)
            #expect(bench.live.isEmpty)
            #expect(!bench.exists(task.place.folder))
        }
    }

    @Test(arguments: [
        (StopRequest.Kind?.none, Verdict.superseded), (.superseded, .superseded), (.cancelled, .cancelled),
    ])
    func `a question that nobody is asked any more ends the run`(
        _ stop: StopRequest.Kind?, _ verdict: Verdict
    ) async throws {
        var ending = RunEnding(report: RunSample.report())
        let question = Approval(why: "", head: "", definition: "", binding: "", askedAt: RunSample.start)
        ending.take(
            EarlyVerdict(verdict: .needsApproval, reason: "asks", question: question),
            stop: stop.map { StopRequest($0, reason: "it was stopped") })
        #expect(ending.report.verdict == verdict)
    }
}
