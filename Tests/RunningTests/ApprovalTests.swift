import Results
import Foundation
import Pipeline
import Testing

import Concurrency
@testable import Preparing
@testable import Running
@testable import Watching

/// What waits for people: those who wait, what a shutdown makes of it, and what a changed definition is said to do.
@Suite(.timeLimit(.minutes(1))) struct ApprovalTests {
    static func approval(_ step: String) -> Approval {
        Approval(
            step: step, why: "", head: "", definition: "", binding: "", askedAt: Date(timeIntervalSince1970: 0),
            decision: .approved, by: "ada")
    }

    @Test func `a decision reaches current and later waiters`() async {
        let waiters = ApprovalWaiters()
        waiters.pass(Self.approval("early"), to: 1)
        #expect(await waiters.answer(about: "early", of: 1, stop: StopSignal())?.step == "early")
        async let word = waiters.answer(about: "late", of: 1, stop: StopSignal())
        waiters.pass(Self.approval("late"), to: 2)
        waiters.pass(Self.approval("late"), to: 1)
        #expect(await word?.step == "late")
        #expect(waiters.leave(1) == false)
    }

    @Test func `a stop and a shutdown end the wait`() async {
        let (waiters, stop) = (ApprovalWaiters(), StopSignal())
        async let stopped = waiters.answer(about: "a", of: 1, stop: stop)
        stop.stop(StopRequest(.cancelled, reason: "no"))
        #expect(await stopped == nil)
        #expect(waiters.leave(1) == false)
        async let sentAway = waiters.answer(about: "a", of: 2, stop: StopSignal())
        waiters.close()
        #expect(await sentAway == nil)
        #expect(waiters.leave(2))
        #expect(await waiters.answer(about: "a", of: 3, stop: StopSignal()) == nil, "closed means for good")
    }

    @Test func `a shutdown repeats only steps that may run twice`() {
        func parking(_ isOnce: Bool, _ change: (inout PlannedStep) -> Void = { _ in }) -> ApprovalPhase.Parking {
            var step = PlannedStep(name: "pack", action: .shell("make"))
            change(&step)
            let gate = PlannedStep(name: "gate", action: .approval, needs: ["pack"])
            var later = PlannedStep(name: "upload", action: .shell("up"), needs: ["gate"])
            (later.network, later.secrets) = (.allowed, [SecretUse("TOKEN")])
            let request = RunRequest(
                repository: "r", workflow: "w", event: .merge, ref: "refs/heads/main", branch: "main", head: "",
                definitionCommit: "", subject: "main", concurrency: .supersede, runsAtMostOnce: isOnce)
            let attempt = AttemptRecord(number: 1, startedAt: Date(timeIntervalSince1970: 0))
            let records = ["pack", "gate", "upload"].map { name in
                StepRecord(name: name, command: "", attempts: name == "upload" ? [] : [attempt])
            }
            return ApprovalPhase.parking(request, Plan(workflow: "w", steps: [step, gate, later]), records)
        }
        func isPutBack(_ parking: ApprovalPhase.Parking) -> Bool { if case .putBack = parking { true } else { false } }
        #expect(isPutBack(parking(false) { $0.network = .allowed }), "a test may run twice")
        #expect(isPutBack(parking(true)), "nothing has acted on the world")
        #expect(!isPutBack(parking(true) { $0.network = .allowed }))
        #expect(!isPutBack(parking(true) { $0.secrets = [SecretUse("TOKEN")] }))
    }

    @Test func `a changed plan is described in one sentence`() {
        func plan(_ steps: (String, String)...) -> Plan {
            Plan(workflow: "w", steps: steps.map { PlannedStep(name: $0.0, action: .shell($0.1)) })
        }
        let old = plan(("a", "1"), ("b", "1"), ("c", "1"))
        #expect(PlanDifference(from: old, to: old).inWords == "plans the same steps")
        #expect(
            PlanDifference(from: old, to: plan(("a", "2"), ("x", "1"))).inWords
                == "adds 1 step (x), removes 2 (b, c), changes the command of a")
        #expect(PlanDifference(from: old, to: plan(("a", "1"), ("b", "1"))).inWords == "removes 1 step (c)")
        var quiet = old
        quiet.steps[1].secrets = [SecretUse("TOKEN")]
        #expect(PlanDifference(from: old, to: quiet).inWords == "changes how b would run")
        let many = Plan(workflow: "w", steps: (1...9).map { PlannedStep(name: "s\($0)", action: .shell("")) })
        #expect(
            PlanDifference(from: plan(), to: many).inWords == "adds 9 steps (s1, s2, s3, s4, s5 and 4 more)")
    }

    @Test func `an answer is valid for exactly the asked question`() {
        var request = RunRequest(
            repository: "r", workflow: "w", event: .tag, ref: "refs/tags/v1", branch: nil, head: "a",
            definitionCommit: "b", subject: "v1", concurrency: .supersede)
        let binding = Approval.binding(request, definition: "d", run: nil)
        #expect(Approval.binding(request, definition: "d", run: nil) == binding)
        var others = [
            Approval.binding(request, definition: "e", run: nil), Approval.binding(request, definition: "d", run: 1),
        ]
        func with(_ change: (inout RunRequest) -> Void) {
            var other = request
            change(&other)
            others.append(Approval.binding(other, definition: "d", run: nil))
        }
        with { $0.head = "c" }
        with { $0.ref = "refs/tags/v2" }
        with { $0.workflow = "x" }
        with { $0.repository = "x" }
        with { $0.parameters = ["a": "1"] }
        with { $0.parameters = ["a": "2"] }
        with { $0.onlySteps = ["a"] }
        with { $0.onlySteps = ["b"] }
        #expect(Set(others + [binding]).count == others.count + 1)
        request.nonce = "again"
        request.kind = .rerun(RunKind.Rerun(of: 7))
        #expect(Approval.binding(request, definition: "d", run: nil) == binding, "a rerun is the same thing")
    }

    @Test func `a user is named by the system's account`() {
        #expect(UserName.of(0) == "root")
        #expect(UserName.of(4_000_000_123) == "4000000123")
    }
}
