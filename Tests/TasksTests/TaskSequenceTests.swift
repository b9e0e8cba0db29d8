import Foundation
import Pipeline
import Results
import Testing

@testable import Tasks

@Suite struct TaskSequenceTests {
    // MARK: Planning

    @Test func `A task begins with a plan by the first agent`() {
        let way = Way()
        #expect(way.begun == ["plan 1 of task 12"])
        #expect(way.roles.first?.agent == "one")
    }

    @Test func `A task without plans begins with the work`() {
        let way = Way { $0.planning = .none }
        #expect(way.begun == ["work 1 of task 12"])
    }

    @Test func `An answer that is no plan is asked for again, until the attempts are used up`() {
        var way = Way { $0.attempts = 2 }
        way.start()
        way.end(1, .failed, "no JSON")
        way.settle()
        #expect(way.roles.last?.repetition == 2)
        way.start()
        way.end(2, .failed, "no JSON either")
        way.settle()
        #expect(way.last == .gaveUp(reason: "2 answers were no plan; the last one: no JSON either"))
        #expect(way.next == .done)
    }

    @Test func `A plan waits for the approval of its version`() {
        var way = Way()
        way.start()
        way.endPlan(1)
        way.settle()
        #expect(way.state == .planWaits)
        // The answer of an agent can't approve anything, and neither does the approval of another version.
        way.add(.planApproved(version: 2, reason: nil))
        #expect(way.next.state == .planWaits)
        way.add(.planApproved(version: 1, reason: nil))
        #expect(way.begun == ["work 1 of task 12"])
    }

    @Test func `A remark to a plan makes the next version`() {
        var way = Way()
        way.start()
        way.endPlan(1)
        way.settle()
        way.add(.remark(text: "smaller, please"))
        #expect(way.begun == ["plan 2 of task 12"])
        way.start()
        way.endPlan(2)
        way.settle()
        #expect(way.plans == [1, 2])
        way.add(.planApproved(version: 1, reason: nil))
        #expect(way.next.state == .planWaits)
    }

    @Test func `A remark that came while the agent planned is for the next version`() {
        var way = Way()
        way.start()
        way.add(.remark(text: "and the tests"))
        way.endPlan(1)
        way.settle()
        #expect(way.begun == ["plan 2 of task 12"])
    }

    @Test func `A refused plan ends the task`() {
        var way = Way()
        way.start()
        way.endPlan(1)
        way.settle()
        way.add(.planRefused(version: 1, reason: nil))
        #expect(way.next == .done)
    }

    @Test func `A plan that is shown, or small, needs no approval`() {
        var way = Way { $0.planning = .shown }
        way.start()
        way.endPlan(1)
        way.settle()
        #expect(way.begun == ["work 1 of task 12"])
        way = Way { $0.small = SmallTask(files: 1, globs: ["Docs/**"]) }
        way.start()
        way.endPlan(1, files: ["Docs/a.md"])
        way.settle()
        #expect(way.begun == ["work 1 of task 12"])
    }

    @Test(arguments: [["Docs/a.md", "Docs/b.md"], ["Sources/a.swift"], ["Docs/*"], []])
    func `A plan that is not small waits`(_ files: [String]) {
        var way = Way { $0.small = SmallTask(files: 1, globs: ["Docs/**"]) }
        way.start()
        way.endPlan(1, files: files)
        way.settle()
        #expect(way.state == .planWaits)
    }

    // MARK: Work

    @Test func `A try is checked by each workflow, then reviewed, then offered`() {
        var way = Way.working { $0.workflows = ["test", "lint"] }
        way.endWork(1)
        way.settle()
        #expect(way.begun == ["check of work 1 of task 12", "check of work 1 of task 12"])
        #expect(way.roles.map(\.workflow) == ["test", "lint"])
        way.start()
        way.end(2, .passed)
        way.settle()
        #expect(way.next.state == .checking)
        way.end(3, .flaky)
        way.settle()
        #expect(way.begun == ["review of work 1 of task 12"])
        #expect(way.roles.first?.agent == "critic")
        way.start()
        way.end(4, .passed)
        way.settle()
        #expect(way.chosen == 1)
        #expect(way.opens?.attempt == 1)
        way.add(.changeOpened(name: "pipectl/task-12", link: nil, commit: "c1"))
        #expect(way.next.state == .ready)
    }

    @Test(arguments: [Verdict.failed, .needsApproval, .conflict, .definitionError])
    func `What does not pass is mended on top of it`(_ verdict: Verdict) {
        var way = Way.working()
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, verdict, "broken")
        way.settle()
        #expect(way.begun == ["work 2 of task 12"])
        #expect(way.roles.first?.base == 1)
    }

    @Test func `A review that asks for more is mended`() {
        var way = Way.reviewed(verdict: .failed)
        #expect(way.begun == ["work 2 of task 12"])
        #expect(way.roles.first?.base == 1)
        way.start()
        way.endWork(4, attempt: 2)
        way.settle()
        #expect(way.begun == ["check of work 2 of task 12"])
    }

    @Test func `A try without a commit is made again from where it began`() {
        var way = Way.working()
        way.end(1, .failed, "it changed nothing")
        way.settle()
        #expect(way.begun == ["work 2 of task 12"])
        #expect(way.roles.first?.base == nil)
    }

    @Test func `The attempts are the end`() {
        var way = Way.working { $0.attempts = 2 }
        for run in [1, 2] {
            way.end(RunID(run), .failed, "nothing")
            way.settle()
            way.start()
        }
        #expect(way.last == .gaveUp(reason: "no try passed; the last one: nothing"))
    }

    @Test func `A used-up budget is the end`() {
        var way = Way.working { $0.cost = 1 }
        way.task.spent.cost = 2
        way.end(1, .failed, "nothing")
        way.settle()
        guard case .gaveUp(let reason) = way.last else { return #expect(Bool(false), "it goes on: \(way.next)") }
        #expect(reason.contains("budget"))
    }

    @Test func `A failing build box is no failure of the work, a few times`() {
        var way = Way.working()
        way.endWork(1)
        way.settle()
        way.start()
        for run in [2, 3] {
            way.end(RunID(run), .infrastructure, "no disk")
            way.settle()
            #expect(way.begun == ["check of work 1 of task 12"])
            #expect(way.roles.first?.repetition == run)
            way.start()
        }
        way.end(4, .infrastructure, "no disk")
        way.settle()
        #expect(way.begun == ["work 2 of task 12"])
    }

    // MARK: Reproduction

    @Test func `A crash is reproduced before the checks, and its tests must pass there`() {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        #expect(way.begun == ["reproduction for work 1 of task 12"])
        way.start()
        way.end(2, .failed, failed: ["Cart/empty"], redBefore: [])
        way.settle()
        #expect(way.begun == ["check of work 1 of task 12"])
        way.start()
        way.end(3, .passed, passed: ["Cart/other"])
        way.settle()
        #expect(way.begun == ["work 2 of task 12"], "a check without the test is none")
        way.start()
        way.endWork(4, attempt: 2)
        way.settle()
        way.start()
        way.end(5, .failed, failed: ["Cart/empty"], redBefore: [])
        way.settle()
        way.start()
        way.end(6, .passed, passed: ["Cart/empty"])
        way.settle()
        #expect(way.begun == ["review of work 2 of task 12"])
    }

    @Test func `Tests that pass on the target show nothing`() {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .passed, passed: ["Cart/empty"])
        way.settle()
        #expect(way.begun == ["work 2 of task 12"])
    }

    @Test func `A target that does not build reproduces nothing`() {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .failed, "build failed")
        way.settle()
        #expect(way.begun == ["work 2 of task 12"])
    }

    @Test func `What fails is compared with the target once it is known`() {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .failed, failed: ["Cart/empty", "Cart/old"])
        way.settle()
        #expect(way.begun == ["run of the target for work 1 of task 12"])
        way.start()
        #expect(way.state == .checking)
        way.end(3, .failed, failed: ["Cart/old"])
        way.settle()
        #expect(way.shown == ["Cart/empty"])
        #expect(way.begun == ["check of work 1 of task 12"])
    }

    @Test(arguments: [true, false])
    func `Tests that are red on the target already show nothing`(_ isKnown: Bool) {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .failed, failed: ["Cart/old"], redBefore: isKnown ? ["Cart/old", "Cart/other"] : nil)
        way.settle()
        if !isKnown {
            way.start()
            way.end(3, .failed, failed: ["Cart/old", "Cart/other"])
            way.settle()
        }
        #expect(way.shown == nil)
        #expect(way.begun == ["work 2 of task 12"])
        guard case .notReproduced(2, 1, let reason) = way.last else { return #expect(Bool(false), "\(way.events)") }
        #expect(reason.contains("Cart/old"))
    }

    @Test func `A target whose own tests never ran shows nothing`() {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .failed, failed: ["Cart/empty"])
        for run in 3...5 {
            way.settle()
            way.start()
            #expect(way.live == ["run of the target for work 1 of task 12"])
            way.end(RunID(run), .infrastructure, "no disk")
        }
        way.settle()
        #expect(way.shown == nil)
        #expect(way.begun == ["work 2 of task 12"])
    }

    @Test func `A test that the task is about shows what is wrong, though it is red on the target`() {
        var way = Way.working(crash: true)
        way.task.source = .redTest("Cart/old", run: 90)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .failed, failed: ["Cart/old", "Cart/other"], redBefore: ["Cart/old", "Cart/other"])
        way.settle()
        #expect(way.shown == ["Cart/old"])
        way = Way.working(crash: true)
        way.task.source = .scheduledRun(90)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .failed, failed: ["Cart/old", "Cart/other"], redBefore: ["Cart/old", "Cart/other"])
        way.settle()
        #expect(way.shown == ["Cart/old", "Cart/other"])
    }

    @Test func `A test that the target has and that passes there must fail twice`() {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .failed, failed: ["Cart/slow", "Cart/old"], redBefore: [], greenBefore: ["Cart/slow", "Cart/old"])
        way.settle()
        #expect(way.begun == ["reproduction for work 1 of task 12"] && way.roles.first?.repetition == 2)
        way.start()
        #expect(way.state == .checking)
        way.end(3, .failed, failed: ["Cart/old"], redBefore: [], greenBefore: ["Cart/slow", "Cart/old"])
        way.settle()
        #expect(way.shown == ["Cart/old"])
        #expect(way.begun == ["check of work 1 of task 12"])
    }

    @Test(arguments: [["Cart/other"], []])
    func `A test that fails now and then shows nothing`(_ then: [String]) {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        way.start()
        let green: Set = ["Cart/slow", "Cart/other"]
        way.end(2, .failed, failed: ["Cart/slow"], redBefore: [], greenBefore: green)
        way.settle()
        way.start()
        way.end(3, then.isEmpty ? .passed : .failed, failed: then, redBefore: [], greenBefore: green)
        way.settle()
        #expect(way.shown == nil)
        #expect(way.begun == ["work 2 of task 12"])
        guard case .notReproduced(3, 1, _) = way.last else { return #expect(Bool(false), "\(way.events)") }
    }

    @Test func `A build box that fails before the second run ends the reproduction`() {
        var way = Way.working(crash: true)
        way.endWork(1)
        way.settle()
        way.start()
        way.end(2, .failed, failed: ["Cart/slow"], redBefore: [], greenBefore: ["Cart/slow"])
        for run in [3, 4] {
            way.settle()
            way.start()
            #expect(way.live == ["reproduction for work 1 of task 12"])
            way.end(RunID(run), .infrastructure, "no disk")
        }
        way.settle()
        #expect(way.shown == nil)
        #expect(way.begun == ["work 2 of task 12"])
    }

    @Test func `The tests may be in another workflow`() {
        var way = Way.working(crash: true) { $0.workflows = ["lint", "test"] }
        way.endWork(1)
        way.settle()
        #expect(way.roles.map(\.workflow) == ["lint"])
        way.start()
        way.end(2, .passed)
        way.settle()
        #expect(way.roles.map(\.workflow) == ["test"])
        way.start()
        way.end(3, .failed, failed: ["Cart/empty"], redBefore: [])
        way.settle()
        #expect(way.begun == ["check of work 1 of task 12", "check of work 1 of task 12"])
    }

    // MARK: Side by side

    @Test func `Agents work side by side, and the smaller of two good tries is offered`() {
        var way = Way.working { $0.agents.append(AgentCommand("two", plan: "p", work: "w")) }
        #expect(way.live == ["work 1 of task 12", "work 2 of task 12"])
        way.endWork(1, lines: 100)
        way.settle()
        #expect(way.begun == ["check of work 1 of task 12"])
        way.start()
        way.endWork(2, attempt: 2, lines: 10)
        way.settle()
        way.start()
        way.end(3, .passed)
        way.end(4, .passed)
        way.settle()
        way.start()
        way.end(5, .passed)
        way.settle()
        #expect(way.next.state == .checking, "the other review goes on")
        way.end(6, .passed)
        way.settle()
        #expect(way.chosen == 2)
    }

    @Test func `Where one try passed, the other agent begins no more`() {
        var way = Way.working { $0.agents.append(AgentCommand("two", plan: "p", work: "w")) }
        way.endWork(1)
        way.settle()
        way.start()
        way.end(3, .passed)
        way.settle()
        way.start()
        way.end(4, .passed)
        way.settle()
        #expect(way.next.state == .working)
        way.end(2, .failed, "nothing")
        way.settle()
        #expect(way.chosen == 1)
    }

    // MARK: Remarks and landing

    @Test func `A remark after the try was made asks for another one on top of it`() {
        var way = Way.working { $0.attempts = 1 }
        way.endWork(1)
        way.settle()
        way.add(.remark(text: "name it better"))
        #expect(way.begun == ["work 2 of task 12"])
        #expect(way.roles.first?.base == 1)
    }

    @Test func `A remark that the agent has read needs no other try; one that it has not read does`() {
        var way = Way.working()
        way.add(.remark(text: "name it better"))
        way.endWork(1)
        way.settle()
        #expect(way.begun == ["check of work 1 of task 12"])
        way = Way.working()
        way.add(.remark(text: "name it better"))
        way.endWork(1, unread: 1)
        way.settle()
        #expect(way.begun == ["work 2 of task 12"])
    }

    @Test func `A remark on a ready change begins work on top of it, with its own attempts`() {
        var way = Way.ready { $0.attempts = 1 }
        way.add(.remark(text: "name it better"))
        #expect(way.begun == ["work 2 of task 12"])
        #expect(way.roles.first?.base == 1)
        way.start()
        way.endWork(4, attempt: 2)
        way.settle()
        #expect(way.begun == ["check of work 2 of task 12"])
    }

    @Test func `Landing is followed, and what did not land is ready again`() {
        var way = Way.ready()
        way.add(.landingAsked)
        #expect(way.next == .follow)
        way.add(.landingFailed(reason: "conflict"))
        #expect(way.next.state == .ready)
        way.add(.landingAsked)
        way.add(.landed(commit: "abc"))
        way.add(.released(version: "1.0", run: 90))
        #expect(way.next == .follow)
    }

    @Test func `A crash that came again begins anew from the target`() {
        var way = Way.ready()
        way.add(.landed(commit: "abc"))
        way.add(.reopened(reason: "again"))
        #expect(way.begun == ["plan 2 of task 12"])
        way.start()
        way.endPlan(4)
        way.settle()
        way.add(.planApproved(version: 2, reason: nil))
        #expect(way.begun == ["work 2 of task 12"])
        #expect(way.roles.first?.base == nil)
    }

    @Test func `A cancelled task wants nothing`() {
        var way = Way.working()
        way.add(.cancelled(reason: nil))
        #expect(way.next == .done)
        way.endWork(1)
        #expect(way.next == .done)
    }

    // MARK: Crashes

    @Test(arguments: 0..<300)
    func `Whatever happens in which order, each thing is done once and there is an end`(_ seed: UInt64) {
        var numbers = SeededNumbers(state: seed)
        var way = Way(crash: true) {
            $0.agents.append(AgentCommand("two", plan: "p", work: "w"))
            ($0.attempts, $0.workflows) = (3, ["test", "lint"])
        }
        way.goOn(&numbers)
        #expect(way.next == .done || way.next.state == .ready, "it does not end: \(way.next)")
        #expect(Set(way.runs.map(\.role.nonce)).count == way.runs.count, "a run was begun twice")
        let works = way.runs.filter { $0.role.part == .working }.map(\.role.attempt)
        #expect(works == Array(1...max(works.count, 1)).prefix(works.count) + [], "the tries are counted")
        let recorded = way.events.compactMap(\.what.run)
        #expect(Set(recorded).count == recorded.count, "a run was recorded twice")
        let opened = way.events.count { if case .changeOpened = $0.what { true } else { false } }
        #expect(opened == (way.next.state == .ready ? 1 : 0))
        #expect(way.runs.count { $0.role.part == .working } <= 6)
        guard let chosen = way.chosen else { return }
        let checks = way.events.compactMap { event -> Verdict? in
            if case .checked(_, chosen, let verdict, _) = event.what { verdict } else { nil }
        }
        #expect(checks.count >= 3 && checks.allSatisfy { $0 == .passed || $0 == .flaky })
    }
}

/// Numbers that are the same for the same seed.
private struct SeededNumbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension TaskEvent.What {
    /// The run that it is about.
    fileprivate var run: RunID? {
        switch self {
        case .planned(_, let run), .planFailed(let run, _), .tryFailed(_, _, let run, _): run
        case .reproduced(let run, _, _), .notReproduced(let run, _, _), .checked(let run, _, _, _): run
        case .made(let made): made.run
        default: nil
        }
    }
}
