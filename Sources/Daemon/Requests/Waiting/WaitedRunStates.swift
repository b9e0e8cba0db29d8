import Running
import Control
import Results
import Store
import Foundation
import Pipeline

/// The states of the runs that a wait is about.
struct WaitedRunStates {
    let index: Store.Index
    let board: LiveBoard
    /// Why no run starts although some wait.
    let obstacle: @Sendable () async -> String?
    /// The usual times of steps, by repository and workflow.
    private var times: [String: [String: StepTime]] = [:]

    init(index: Store.Index, board: LiveBoard, obstacle: @escaping @Sendable () async -> String?) {
        (self.index, self.board, self.obstacle) = (index, board, obstacle)
    }

    mutating func state(of run: IndexedRun, _ queue: [QueuedRun]) async throws -> WaitedRun {
        let summary = run.summary
        func make(_ state: WaitedRun.State) -> WaitedRun {
            WaitedRun(summary, subject: run.request.subjectInWords, state: state)
        }
        if let verdict = summary.verdict {
            var ended = make(.ended)
            (ended.verdict, ended.reason) = (verdict, summary.reason)
            return ended
        }
        if let why = summary.heldFor {
            var held = make(.needsApproval)
            held.detail = "\(why); \(Approval.command(summary.id))"
            return held
        }
        if summary.state == .queued {
            var queued = make(.queued)
            queued.behind = queue.firstIndex { $0.id == summary.id }
            if let first = queue.first(where: { $0.id == summary.id })?.waitsFor {
                let wait = try await board.wait(for: first, index)
                if wait.isHeld { queued.state = .needsApproval }
                queued.detail = wait.words
            } else if let obstacle = await obstacle() {
                queued.detail = "nothing starts: \(obstacle)"
            }
            return queued
        }
        guard let live = board.run(summary.id) else {
            var beginning = make(.running)
            beginning.detail = "starting, or being recorded"
            return beginning
        }
        return await going(live, make(live.isParked ? .needsApproval : .running))
    }

    private mutating func going(_ live: LiveRun, _ waited: WaitedRun) async -> WaitedRun {
        var waited = waited
        if live.isParked {
            waited.detail = live.question
            return waited
        }
        if live.phase != .running { waited.detail = live.progress }
        guard !live.steps.isEmpty else { return waited }
        waited.steps = live.steps.count
        waited.stepsEnded = live.steps.count { $0.record.status.isFinal }
        waited.current = live.steps.filter { $0.record.status == .running }.map(\.record.name)
        // An infrastructure failure says nothing about the change.
        waited.failedStep =
            live.steps.first { step in
                step.record.status.isFailure && step.record.status != .infrastructure && !step.record.allowsFailure
            }?.record.name
        let expectation = StepExpectation(live.steps, times: await times(of: live), at: Date())
        (waited.expectedEnd, waited.expectedFrom) = (expectation?.end, expectation?.runs)
        return waited
    }

    private mutating func times(of live: LiveRun) async -> [String: StepTime] {
        let key = "\(live.repository)\n\(live.workflow)"
        if let known = times[key] { return known }
        let found = (try? await index.stepTimes(repository: live.repository, workflow: live.workflow)) ?? [:]
        times[key] = found
        return found
    }
}
