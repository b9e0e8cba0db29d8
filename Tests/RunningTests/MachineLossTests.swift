import Concurrency
import Engine
import Foundation
import Preparing
import Results
import Testing

import RunSamples
@testable import Running
@testable import Workspaces

/// Whether a run is begun again whose machine was lost.
@Suite struct MachineLossTests {
    private struct Place: FinishedPlace {
        var base: Report.Base? { nil }
        var cold: String? { nil }
        var resumed: RunID? { nil }
        var isAllEnded: Bool { false }
        var lost: String? = "one closed the connection"
        func release(_ report: Report?) async {}
    }

    private func outcome(_ verdict: Verdict, tried: Bool = true) -> RunOutcome {
        var outcome = RunOutcome(verdict: verdict, reason: "")
        var step = StepRecord(name: "s", command: "true")
        step.status = .infrastructure
        if tried { step.attempts = [AttemptRecord(number: 1, startedAt: RunSample.start)] }
        outcome.steps = [step]
        return outcome
    }

    @Test func `a test run is begun again, twice at most`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task()
            let lost = outcome(.infrastructure)
            #expect(lost.loss(of: Place(), task, losses: 0)?.rule == "machine-lost")
            #expect(lost.loss(of: Place(), task, losses: 1) != nil)
            #expect(lost.loss(of: Place(), task, losses: 2) == nil)
            #expect(lost.loss(of: Place(lost: nil), task, losses: 0) == nil, "something else failed")
            #expect(outcome(.failed).loss(of: Place(), task, losses: 0) == nil, "a verdict about the change stays")
            task.stop.stop(StopRequest(.cancelled, reason: "not wanted"))
            #expect(lost.loss(of: Place(), task, losses: 0) == nil)
        }
    }

    @Test func `steps that must not run twice are not begun again once one was tried`() async throws {
        try await PhaseBench.with { bench in
            let task = try await bench.task { $0.runsAtMostOnce = true }
            #expect(outcome(.infrastructure).loss(of: Place(), task, losses: 0) == nil)
            #expect(outcome(.infrastructure, tried: false).loss(of: Place(), task, losses: 0) != nil)
        }
    }
}
