import Concurrency
import Foundation
import Pipeline
import Synchronization
import TestBasics
import TestSupport
import StepSlots
import Testing

@testable import Engine
@testable import Results

/// Steps that the daemon does itself: those that make and publish releases.
@Suite(.runFolder, .timeLimit(.minutes(1))) struct ReleaseStepTests {
    /// Does what a test says, and remembers the orders.
    private final class Work: ReleaseWork {
        let orders = Mutex<[ReleaseOrder]>([])
        let body: @Sendable (ReleaseOrder, Int) async throws -> [ArtifactRecord]

        init(_ body: @escaping @Sendable (ReleaseOrder, Int) async throws -> [ArtifactRecord]) { self.body = body }

        func perform(
            _ order: ReleaseOrder, say: @escaping @Sendable (String) -> Void
        ) async throws -> [ArtifactRecord] {
            let count = orders.withLock { orders in
                orders.append(order)
                return orders.count
            }
            say("attempt \(count)")
            return try await body(order, count)
        }
    }

    private func release(_ needs: String...) -> PlannedStep {
        PlannedStep(name: "release", action: .release(ReleasePlan(version: .tag())), needs: needs)
    }

    private func builds() -> PlannedStep {
        var build = PlannedStep.shell("build", "echo a > a.txt")
        build.artifacts = ["a.txt"]
        return build
    }

    @Test func `it gets the artifacts of the steps before it, takes no slot, and its files are archived`() async throws
    {
        let made = ArtifactRecord(step: "release", path: "release/a.minisig", bytes: 1, sha256: "00")
        let other = Happening()
        let work = Work { _, _ in
            // If the step held the only slot, the other one would never run.
            try await other.wait()
            return [made]
        }
        let setting = RunFolder.current.setting { $0.releases = work }
        let runner = Runner(setting: setting, pool: SlotPool(slots: 1)) { event in
            if case .stepEnded(let record) = event, record.name == "other" { other.happens() }
        }
        let plan = Plan(
            workflow: "release",
            steps: [builds(), release("build"), .shell("other", "true", needs: ["build"])])
        let outcome = await runner.run(plan, stop: StopSignal())
        #expect(outcome.verdict == .passed, "\(outcome.reason)")
        #expect(work.orders.withLock { $0.first?.earlier.artifacts.map(\.path) } == ["a.txt"])
        #expect(work.orders.withLock { $0.first?.earlier.records.map(\.name) } == ["build"])
        #expect(outcome.artifacts.contains(made))
        #expect(RunFolder.current.log(outcome["release"]) == "attempt 1\n")
    }

    @Test func `a failure is of the step, or of the machine, and is tried again where the workflow says so`() async {
        let work = Work { _, count in
            if count == 1 { throw ReleaseFailure("no answer", isOfMachine: true) }
            throw ReleaseFailure("other bytes")
        }
        var step = release()
        step.retry = RetryPolicy(count: 3, condition: .infrastructure)
        let outcome = await run([step], setting: RunFolder.current.setting { $0.releases = work })
        #expect(outcome["release"].attempts.map(\.status) == [.infrastructure, .failed])
        #expect(outcome["release"].reason == "other bytes")
    }

    @Test func `a stop and a time-out end it`() async throws {
        let work = Work { _, _ in
            try await Task.sleep(for: .seconds(3600))
            return []
        }
        var step = release()
        step.timeout = 0.1
        let late = await run([step], setting: RunFolder.current.setting { $0.releases = work })
        #expect(late["release"].status == .timedOut)
    }

    @Test func `without a daemon nothing is released`() async {
        let outcome = await run([release()], setting: RunFolder.current.setting())
        #expect(outcome["release"].status == .failed)
    }
}
