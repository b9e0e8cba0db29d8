import Concurrency
package import Engine
import Foundation
package import Pipeline
package import PlanRules
import Results
import Sandbox
import Synchronization
package import SystemPackage

/// The place of a run whose steps may also run on other machines.
package struct SpreadPlace: RunPlace {
    private let own: any RunPlace
    private let machines: any StepMachines
    private let moves: StepMoves
    private let isEager: Bool
    private let folder: FilePath
    private let checks: StepChecks

    /// - Parameters:
    ///   - isEager: Whether steps that could run on the run's own machine may run on others, too.
    ///   - folder: A folder of this machine that does not exist yet, for what steps hand to each other.
    ///   - checks: The steps that are to be checked on another machine, as they are when the place is opened.
    package init(
        _ own: any RunPlace, machines: any StepMachines, moves: StepMoves, isEager: Bool, folder: FilePath,
        checks: StepChecks = StepChecks()
    ) {
        (self.own, self.machines, self.moves) = (own, machines, moves)
        (self.isEager, self.folder, self.checks) = (isEager, folder, checks)
    }

    package func open<Value: Sendable>(
        for plan: Plan, _ body: @escaping @Sendable (any OpenPlace) async -> Value
    ) async throws -> (value: Value, isAllEnded: Bool) {
        let cargo = Cargo(plan: plan, folder: folder)
        try await onOwnThread { try cargo.makeFolder() }
        let result: Result<(value: Value, isAllEnded: Bool), any Error>
        do {
            result = .success(
                try await own.open(for: plan) { [machines, moves, isEager, checks] own in
                    let sites = Sites(
                        own: own, cargo: cargo, machines: machines, moves: moves, isEager: isEager,
                        checks: checks.steps)
                    return await withTaskGroup(of: Void.self) { group in
                        group.addTask { await sites.serve() }
                        let value = await body(OpenSpreadPlace(own: own, spread: sites))
                        sites.close()
                        await group.waitForAll()
                        return value
                    }
                })
        } catch { result = .failure(error) }
        try? await onOwnThread { cargo.removeFolder() }
        return try result.get()
    }
}

/// The steps of a run of which another machine is to check what the run's own machine has proved. They are known only
/// once the run has its place.
package final class StepChecks: Sendable {
    private let state = Mutex<Set<String>>([])

    package init() {}

    var steps: Set<String> { state.withLock { $0 } }

    package func take(_ steps: Set<String>) { state.withLock { $0 = steps } }
}

/// The run's own machine while steps of the run may also run on others.
private struct OpenSpreadPlace: OpenPlace {
    let own: any OpenPlace
    let spread: Sites

    func run(
        _ attempt: StepAttempt, stop: StopSignal, output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> AttemptEnd {
        spread.count(own: 1)
        defer { spread.count(own: -1) }
        return try await own.run(attempt, stop: stop, output: output)
    }

    func add(value name: String, from file: FilePath) throws {
        try spread.cargo.keep(value: name, file)
        try own.add(value: name, from: file)
    }

    var begunAt: Date { own.begunAt }
    func files(_ folder: PlaceFolder, of step: PlannedStep) -> any FileSource { own.files(folder, of: step) }
    func discardPublished(by attempt: StepAttempt) { own.discardPublished(by: attempt) }
    func restore(_ outputs: StoredOutputs, inPlaceOf stale: StaleOutputs) throws {
        try own.restore(outputs, inPlaceOf: stale)
    }
    func workspacePaths(of step: PlannedStep) -> [FilePath] { own.workspacePaths(of: step) }
    var isLost: Bool { own.isLost }
    var sites: (any StepSites)? { spread }
}

/// Another machine while a step of the run runs there.
struct SitePlace: OpenPlace {
    let place: any OpenPlace
    let own: any OpenPlace
    let cargo: Cargo

    /// A value is for all steps, wherever they run.
    func add(value name: String, from file: FilePath) throws {
        try cargo.keep(value: name, file)
        try cargo.withCopy(of: file) { try own.add(value: name, from: $0) }
        try place.add(value: name, from: file)
    }

    var begunAt: Date { place.begunAt }
    func run(
        _ attempt: StepAttempt, stop: StopSignal, output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> AttemptEnd {
        try await place.run(attempt, stop: stop, output: output)
    }
    func files(_ folder: PlaceFolder, of step: PlannedStep) -> any FileSource { place.files(folder, of: step) }
    func discardPublished(by attempt: StepAttempt) { place.discardPublished(by: attempt) }
    func restore(_ outputs: StoredOutputs, inPlaceOf stale: StaleOutputs) throws {
        try place.restore(outputs, inPlaceOf: stale)
    }
    func workspacePaths(of step: PlannedStep) -> [FilePath] { place.workspacePaths(of: step) }
    var isLost: Bool { place.isLost }
}
