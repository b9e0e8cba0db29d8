import Concurrency
package import Engine
import Foundation
package import Pipeline
import Results
import SystemPackage

/// The place of a run in which an agent works: that of other runs, with a desk.
package struct AgentPlace: RunPlace {
    private let place: LocalPlace
    private let desk: AgentDesk

    /// - Parameter isReadOnly: Whether the agent sees the workspace without the right to write to it.
    package init(_ place: LocalPlace, desk: AgentDesk, isReadOnly: Bool) {
        var place = place
        place.isReadOnly = isReadOnly
        place.reachable = desk.reachable
        self.place = place
        self.desk = desk
    }

    package func open<Value: Sendable>(
        for plan: Plan, _ body: @escaping @Sendable (any OpenPlace) async -> Value
    ) async throws -> (value: Value, isAllEnded: Bool) {
        let desk = desk
        return try await place.open(for: plan) { place in
            await desk.serving { await body(OpenAgentPlace(place: place, desk: desk)) }
        }
    }
}

/// The place of an agent while it works.
private struct OpenAgentPlace: OpenPlace {
    let place: any OpenPlace
    let desk: AgentDesk

    var begunAt: Date { place.begunAt }

    func run(
        _ attempt: StepAttempt, stop: StopSignal, output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> AttemptEnd {
        var order = attempt
        order.hasFolder = true
        order.environment.merge(desk.variables) { _, own in own }
        switch order.step.action {
        case .shell(let line): order.step.action = .command(desk.words(for: line))
        case .command(let words): order.step.action = .command(desk.words(for: words))
        case .closure, .approval, .release, .publish: break
        }
        desk.attemptBegins(output)
        do {
            let end = try await place.run(order, stop: stop, output: output)
            desk.attemptEnded(try await onOwnThread { [place] in Self.yield(of: attempt, at: place) })
            return end
        } catch {
            desk.attemptEnded(AgentDesk.Yield())
            throw error
        }
    }

    private static func yield(of attempt: StepAttempt, at place: any OpenPlace) -> AgentDesk.Yield {
        let files = place.files(.published(label: attempt.label), of: attempt.step)
        func content(_ name: String, _ limit: Int) -> [UInt8]? {
            var bytes: [UInt8] = []
            do {
                _ = try files.read(name, atMost: limit) { bytes += $0 }
                return bytes
            } catch {
                return nil
            }
        }
        var left = AgentDesk.Yield()
        left.answer = content(AgentDesk.answerFile, AgentDesk.answerBytes)
        left.usage = content(AgentDesk.usageFile, AgentDesk.usageBytes)
        return left
    }

    func files(_ folder: PlaceFolder, of step: PlannedStep) -> any FileSource { place.files(folder, of: step) }
    func add(value name: String, from file: FilePath) throws { try place.add(value: name, from: file) }
    func discardPublished(by attempt: StepAttempt) { place.discardPublished(by: attempt) }

    func restore(_ outputs: StoredOutputs, inPlaceOf stale: StaleOutputs) throws {
        try place.restore(outputs, inPlaceOf: stale)
    }

    func workspacePaths(of step: PlannedStep) -> [FilePath] { place.workspacePaths(of: step) }
}
