import Control
@testable import Engine
import Results
import Foundation
import Pipeline
import Testing

import Engine
@testable import Running

@Suite(.timeLimit(.minutes(1))) struct LiveBoardTests {
    private let board = LiveBoard()

    private func begin(_ steps: [String] = ["a", "b"]) {
        var run = LiveRun(
            id: 7, repository: "r", workflow: "w", subject: "main", phase: .planning, startedAt: Date(), logs: "/logs")
        run.steps = steps.map { LiveRun.Step(record: StepRecord(name: $0, command: "true", needs: [])) }
        board.begin(run)
    }

    @Test func `events reach their step`() {
        begin()
        board.take(.stepStarted(step: "b", attempt: 2, at: Date()), of: 7)
        board.take(.stepStarted(step: "no such step", attempt: 1, at: Date()), of: 7)
        board.take(.stepStarted(step: "a", attempt: 1, at: Date()), of: 8)
        #expect(board.run(7)?.steps.map(\.record.status) == [.waiting, .running])
        #expect(board.run(7)?.steps.map(\.attempt) == [0, 2])
        #expect(board.run(8) == nil)
    }

    @Test func `steps that came later are found`() {
        begin([])
        board.take(.stepStarted(step: "c", attempt: 1, at: Date()), of: 7)
        board.update(7) { $0.steps = [LiveRun.Step(record: StepRecord(name: "c", command: "true", needs: []))] }
        board.take(.stepStarted(step: "c", attempt: 1, at: Date()), of: 7)
        #expect(board.run(7)?.steps.map(\.record.status) == [.running])
    }

    @Test func `followers are told of each change`() async {
        begin()
        let revision = board.run(7)?.revision ?? 0
        async let next = board.next(7, after: revision)
        board.take(.stepStarted(step: "a", attempt: 1, at: Date()), of: 7)
        #expect(await next?.revision == revision + 1)
    }

    @Test func `the end is waited for`() async {
        await board.waitForEnd(of: 7)
        begin()
        async let end: Void = board.waitForEnd(of: 7)
        board.take(.stepStarted(step: "a", attempt: 1, at: Date()), of: 7)
        board.end(7)
        await end
        #expect(board.run(7) == nil)
    }

    @Test func `a cancelled waiter waits no longer`() async {
        begin()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await board.waitForEnd(of: 7) }
            group.addTask { await board.waitForChange(of: 7, since: board.changes) }
            group.cancelAll()
        }
        #expect(board.run(7) != nil)
    }

    @Test func `a run that only waits for a person is listed with the question`() {
        begin()
        func listed() -> String? {
            let summary = RunSummary(
                id: 7, repository: "r", workflow: "w", event: .push, ref: "refs/heads/main", branch: "main",
                head: String(repeating: "a", count: 40), state: .running, createdAt: Date())
            return board.withQuestion(summary).heldFor
        }
        board.update(7) { live in
            live.steps[0].record.status = .passed
            (live.steps[1].awaitsApproval, live.steps[1].waitsFor) = (true, "waits for pipectl approve 7")
        }
        #expect(listed() == "\"b\" waits for pipectl approve 7")
        board.update(7) { $0.steps[0].record.status = .running }
        #expect(listed() == nil, "another step goes on")
    }
}
