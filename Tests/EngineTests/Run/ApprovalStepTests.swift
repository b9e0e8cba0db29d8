import TestBasics
import Concurrency
import Foundation
import Pipeline
import Synchronization
import StepSlots
import Testing

@testable import Results
@testable import Engine
import TestSupport

/// Steps that wait for approval.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct ApprovalStepTests {
    private func gate(_ needs: String..., timeout: Double = 600) -> PlannedStep {
        var step = PlannedStep(name: "gate", action: .approval, needs: needs)
        step.timeout = timeout
        return step
    }

    /// A setting whose approvals are answered by `answer`.
    private func setting(
        _ answer: @escaping @Sendable (String, StopSignal) async -> ApprovalDecision?
    ) -> RunSetting { RunFolder.current.setting { $0.approval = answer } }

    @Test func `a waiting approval holds no slot and other steps continue`() async throws {
        let other = Happening()
        let setting = setting { step, _ in
            #expect(step == "gate")
            // If the gate held the only slot, the other step would never end.
            try? await other.wait()
            return ApprovalDecision(isApproved: true, by: "ada")
        }
        let runner = Runner(setting: setting, pool: SlotPool(slots: 1)) { event in
            if case .stepEnded(let record) = event, record.name == "other" { other.happens() }
        }
        let plan = Plan(
            workflow: "test", steps: [gate(), .shell("other", "true"), .shell("after", "true", needs: ["gate"])])
        let outcome = await runner.run(plan, stop: StopSignal())
        #expect(outcome.verdict == .passed)
        #expect(outcome["gate"].status == .passed)
        #expect(outcome["gate"].attempts.count == 1)
        #expect(outcome["after"].status == .passed)
    }

    @Test func `a rejection fails the step with name and reason`() async {
        let outcome = await run(
            [gate(), .shell("after", "true", needs: ["gate"])],
            setting: setting { _, _ in ApprovalDecision(isApproved: false, by: "ada", comment: "not today") })
        #expect(outcome.verdict == .failed)
        #expect(outcome["gate"].reason == "rejected by ada: not today")
        #expect(outcome["after"].status == .skipped)
    }

    @Test func `a stop ends a waiting approval`() async throws {
        let (events, stop) = (EventList(), StopSignal())
        let setting = setting { _, stop in
            _ = await stop.wait()
            return nil
        }
        async let ended = run(
            [gate(), .shell("after", "true", needs: ["gate"])], setting: setting, stop: stop, events: events)
        try await events.wait { if case .stepAwaitsApproval("gate", _) = $0 { true } else { false } }
        stop.stop(StopRequest(.superseded, reason: "Run 2 took its place."))
        let outcome = await ended
        #expect(outcome.verdict == .superseded)
        #expect(outcome["gate"].status == .cancelled)
        #expect(outcome["gate"].reason == "Run 2 took its place.")
        #expect(outcome["after"].status == .cancelled)
    }

    @Test func `an approval fails at its time limit`() async {
        let outcome = await run(
            [gate(timeout: 0.05)],
            setting: setting { _, _ in
                try? await Task.sleep(for: .seconds(30))
                return nil
            })
        #expect(outcome["gate"].status == .timedOut)
        #expect(outcome["gate"].reason?.contains("it was not approved within") == true)
    }

    @Test func `an approval is cancelled if nobody can be asked`() async {
        let outcome = await run([gate()])
        #expect(outcome.verdict == .cancelled)
        #expect(outcome["gate"].status == .cancelled)
    }
}

/// An event that happens once; any number of tasks may wait for it.
private final class Happening: Sendable {
    private let signal = StopSignal()
    func happens() { signal.stop(StopRequest(.cancelled, reason: "")) }
    func wait() async throws { if await signal.wait() == nil { throw CancellationError() } }
}
