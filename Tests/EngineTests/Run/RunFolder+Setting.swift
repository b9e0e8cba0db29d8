import Concurrency
import Foundation
import Pipeline
import Synchronization
import SystemPackage
import TestSupport
import StepSlots
import Testing

@testable import Engine
@testable import Results

extension RunFolder {
    /// This machine as the place of a run, without a sandbox.
    func localPlace(run: String = "run") -> LocalPlace {
        LocalPlace(
            workspace: FilePath(workspace), folder: FilePath(path(run)), stepInit: RunFolder.stepInit,
            closureCommand: { ["/bin/echo", "closure", $0] })
    }

    func setting(
        grace: Duration = .seconds(5), run: String = "run", environment: [String: String]? = nil,
        change: (inout RunSetting) -> Void = { _ in }
    ) -> RunSetting {
        var setting = RunSetting(
            place: localPlace(run: run), folder: FilePath(path(run)),
            environment: environment ?? RunSetting.baseEnvironment(ProcessInfo.processInfo.environment), grace: grace)
        change(&setting)
        return setting
    }

    /// An attempt's log as text.
    func log(_ step: StepRecord, attempt: Int = 1, run: String = "run") -> String {
        guard let log = step.attempts.first(where: { $0.number == attempt })?.log,
            let data = FileManager.default.contents(atPath: path(run) + "/logs/" + log.file)
        else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}

struct RunFolderTrait: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await RunFolder.provide(function)
    }
}

extension Trait where Self == RunFolderTrait {
    /// Hands the test a `RunFolder.current`.
    static var runFolder: RunFolderTrait { RunFolderTrait() }
}

/// Collects a run's events.
final class EventList: Sendable {
    private let list = Mutex<[RunEvent]>([])

    var events: [RunEvent] { list.withLock { $0 } }

    func add(_ event: RunEvent) { list.withLock { $0.append(event) } }

    /// Waits until an event satisfies `isWanted`.
    func wait(for isWanted: (RunEvent) -> Bool) async throws {
        while !events.contains(where: isWanted) { try await Task.sleep(for: .milliseconds(2)) }
    }
}

extension PlannedStep {
    /// A shell step, with changes.
    static func shell(
        _ name: String, _ line: String, needs: [String] = [], change: (inout PlannedStep) -> Void = { _ in }
    ) -> PlannedStep {
        var step = PlannedStep(name: name, action: .shell(line), needs: needs)
        change(&step)
        return step
    }
}

/// Runs `steps` in the test's folder.
func run(
    _ steps: [PlannedStep], failFast: Bool = false, setting: RunSetting? = nil, pool: SlotPool = SlotPool(slots: 4),
    stop: StopSignal = StopSignal(), events: EventList = EventList()
) async -> RunOutcome {
    await Runner(setting: setting ?? RunFolder.current.setting(), pool: pool, emit: { events.add($0) }).run(
        Plan(workflow: "test", failFast: failFast, steps: steps), stop: stop)
}

extension RunOutcome {
    subscript(_ name: String) -> StepRecord {
        steps.first { $0.name == name } ?? StepRecord(name: "there is no step \(name)", command: "")
    }
}
