import Concurrency
package import Engine
import Foundation
package import Pipeline
import Results
import Sandbox
import Synchronization
package import SystemPackage

/// A place that gives each part of a divided step its tests.
package struct DividedPlace: RunPlace {
    private let place: any RunPlace
    private let known: [String: [KnownTest]]
    private let folder: FilePath

    /// - Parameters:
    ///   - known: By divided step, its tests with their times.
    ///   - folder: An existing folder of this machine, where a list is kept until the place has it.
    package init(_ place: any RunPlace, knowing known: [String: [KnownTest]], folder: FilePath) {
        (self.place, self.known, self.folder) = (place, known, folder)
    }

    package func open<Value: Sendable>(
        for plan: Plan, _ body: @escaping @Sendable (any OpenPlace) async -> Value
    ) async throws -> (value: Value, isAllEnded: Bool) {
        let (known, folder) = (known, folder)
        return try await place.open(for: plan) { place in
            await body(OpenDividedPlace(place: place, splits: TestSplits(knowing: known), folder: folder))
        }
    }
}

/// How the lists of a run are divided. Whoever asks first divides a list, and all parts and attempts keep to that.
private final class TestSplits: Sendable {
    private let known: [String: [KnownTest]]
    private let parts = Mutex<[String: [[String]]]>([:])

    init(knowing known: [String: [KnownTest]]) { self.known = known }

    /// The tests of a part. It blocks.
    func tests(of shard: Shard, reading list: () throws -> [UInt8]) throws -> [String] {
        try parts.withLock { parts in
            if parts[shard.step] == nil {
                let tests = try TestList(list()).tests
                parts[shard.step] = ListedTests.parts(of: tests, among: shard.count, knowing: known[shard.step] ?? [])
            }
            let own = parts[shard.step] ?? []
            return own.indices.contains(shard.number - 1) ? own[shard.number - 1] : []
        }
    }
}

private struct OpenDividedPlace: OpenPlace {
    let place: any OpenPlace
    let splits: TestSplits
    let folder: FilePath

    func run(
        _ attempt: StepAttempt, stop: StopSignal, output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> AttemptEnd {
        guard let shard = attempt.step.shard, let list = shard.list else {
            return try await place.run(attempt, stop: stop, output: output)
        }
        let name = "tests-of-part.\(attempt.label)"
        do {
            let count = try await onOwnThread { try give(attempt.step, shard, list, as: name) }
            // Without a list, many tools run all tests.
            guard count > 0 else {
                say("pipectl: \(list) lists fewer tests than there are parts, so this part has none\n", output)
                return AttemptEnd(process: ProcessEnd(exitCode: 0))
            }
        } catch let problem as TestListProblem {
            say("pipectl: the list of tests, \(list), \(problem.reason)\n", output)
            return AttemptEnd(process: ProcessEnd(exitCode: 1))
        }
        var attempt = attempt
        attempt.tests = name
        return try await place.run(attempt, stop: stop, output: output)
    }

    /// Gives the place the list of a part, and returns how many tests it has.
    private func give(_ step: PlannedStep, _ shard: Shard, _ list: String, as name: String) throws -> Int {
        let tests = try splits.tests(of: shard) { try read(list, of: step) }
        guard !tests.isEmpty else { return 0 }
        let file = folder.appending(".\(UInt64.random(in: .min ... .max))")
        defer { try? FileManager.default.removeItem(atPath: file.string) }
        try Data((tests.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: file.string))
        try place.add(value: name, from: file)
        return tests.count
    }

    private func read(_ list: String, of step: PlannedStep) throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            _ = try place.files(.workspace, of: step).read(list, atMost: TestList.mostBytes) { bytes += $0 }
        } catch let problem as WorkspaceFileProblem where problem.machineError == nil {
            throw TestListProblem(problem.isMissing ? "is missing" : "can't be read: \(problem.reason)")
        }
        return bytes
    }

    private func say(_ text: String, _ output: (UnsafeRawBufferPointer) -> Void) {
        Array(text.utf8).withUnsafeBytes(output)
    }

    var begunAt: Date { place.begunAt }
    func files(_ folder: PlaceFolder, of step: PlannedStep) -> any FileSource { place.files(folder, of: step) }
    func add(value name: String, from file: FilePath) throws { try place.add(value: name, from: file) }
    func discardPublished(by attempt: StepAttempt) { place.discardPublished(by: attempt) }
    func restore(_ outputs: StoredOutputs, inPlaceOf stale: StaleOutputs) throws {
        try place.restore(outputs, inPlaceOf: stale)
    }
    func workspacePaths(of step: PlannedStep) -> [FilePath] { place.workspacePaths(of: step) }
    var isLost: Bool { place.isLost }
    var sites: (any StepSites)? { place.sites.map { DividedSites(sites: $0, splits: splits, folder: folder) } }
}

/// Other machines for parts of divided steps, which keep to the same division there.
private struct DividedSites: StepSites {
    let sites: any StepSites
    let splits: TestSplits
    let folder: FilePath

    func reach(of step: PlannedStep) -> StepReach { sites.reach(of: step) }

    func hold(
        _ step: PlannedStep, _ rules: OutputRules, _ stop: StopSignal, say: @escaping @Sendable (String) -> Void
    ) async throws -> any StepSite {
        Site(site: try await sites.hold(step, rules, stop, say: say), splits: splits, folder: folder)
    }

    func note(_ outputs: StoredOutputs, of step: PlannedStep) { sites.note(outputs, of: step) }

    private struct Site: StepSite {
        let site: any StepSite
        let splits: TestSplits
        let folder: FilePath

        var machine: String { site.machine }

        func enter(stop: StopSignal) async throws -> any OpenPlace {
            OpenDividedPlace(place: try await site.enter(stop: stop), splits: splits, folder: folder)
        }

        func bringBack(_ stored: StoredOutputs?) async throws { try await site.bringBack(stored) }
        func leave() async { await site.leave() }
    }
}

extension Plan {
    /// The steps that a rerun need not run, without the parts of a listed step of which another part must run: the list
    /// is divided anew, so all of them do.
    package func withoutLoneParts(_ carried: [String: CarriedStep]) -> [String: CarriedStep] {
        let again = Set(steps.compactMap { $0.shard?.list != nil && carried[$0.name] == nil ? $0.shard?.step : nil })
        let parts = Set(steps.compactMap { step in step.shard.flatMap { again.contains($0.step) ? step.name : nil } })
        return carried.filter { !parts.contains($0.key) }
    }
}
