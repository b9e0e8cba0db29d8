import Concurrency
import Engine
import Foundation
import MachineProtocol
import Pipeline
import Results
import Sandbox
import Synchronization
import SystemPackage

/// Another machine while the steps of a run are run on it.
struct OpenRemotePlace: OpenPlace {
    let machine: MachineClient
    let begunAt: Date
    private let paths: [FilePath]

    init(machine: MachineClient, opened: OpenedPlace) {
        self.machine = machine
        begunAt = opened.begunAt
        paths = opened.workspacePaths.prefix(8).filter { $0.hasPrefix("/") }.map { FilePath($0) }
    }

    /// How long after its grace a step that was asked to end may still be alive before the machine is given up.
    private static let patience = Duration.seconds(45)
    /// How long the machine may take to put outputs in place, of which it says nothing meanwhile.
    private static let unpacking = Duration.seconds(900)

    func run(
        _ attempt: StepAttempt, stop: StopSignal, output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> AttemptEnd {
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: AttemptEnd?.self) { group in
                group.addTask { try await onOwnThread { try follow(attempt, stop, output) } }
                group.addTask {
                    guard await stop.wait() != nil else { return nil }
                    do { try await Task.sleep(for: attempt.grace + OpenRemotePlace.patience) } catch { return nil }
                    machine.giveUp("did not end a step that was asked to end")
                    return nil
                }
                while let end = try await group.next() {
                    guard let end else { continue }
                    group.cancelAll()
                    return end
                }
                throw PlaceProblem(reason: "\(machine.machine) said nothing about a step", mayHaveActed: true)
            }
        } onCancel: {
            stop.stop(StopRequest(.cancelled, reason: "cancelled"))
        }
    }

    private func follow(
        _ attempt: StepAttempt, _ stop: StopSignal, _ output: (UnsafeRawBufferPointer) -> Void
    ) throws -> AttemptEnd {
        if let request = stop.request { return AttemptEnd(process: ProcessEnd(stopped: request)) }
        // Nothing was sent before this call, and afterwards nobody knows.
        if machine.isLost { throw machine.lost(PlaceIsGone(), mayHaveActed: false) }
        let exchange: Exchange
        do { exchange = try machine.begin(.run(AttemptOrder(attempt)), limit: nil) } catch let problem as PlaceProblem {
            throw PlaceProblem(reason: problem.reason, mayHaveActed: true)
        }
        defer { exchange.finish() }
        // The handler runs on the thread that stops, which must not wait for a slow connection.
        let asking = StopNotes(exchange)
        let handler = stop.onStop { asking.send($0) }
        defer { stop.removeHandler(handler) }
        do {
            while true {
                switch try exchange.next() {
                case .data(let bytes): bytes.withUnsafeBytes(output)
                case .endOfData, .note: continue
                case .reply(let bytes):
                    return try machine.value(AttemptReport.self, bytes).end(asked: stop.request)
                }
            }
        } catch let problem as MachineProblem {
            throw problem.error
        } catch let problem as PlaceProblem {
            throw problem
        } catch {
            throw machine.lost(error, mayHaveActed: true)
        }
    }

    private struct PlaceIsGone: Error, CustomStringConvertible { let description = "is gone" }

    func files(_ folder: PlaceFolder, of step: PlannedStep) -> any FileSource {
        RemoteFiles(machine: machine, folder: folder, step: step)
    }

    func add(value name: String, from file: FilePath) throws {
        try asEngine {
            _ = try machine.ask(
                .value(name: name), Done.self,
                send: { exchange in _ = try FileSending.send(file.string) { try exchange.send($0) } })
        }
        // The place was allowed to move it.
        unlink(file.string)
    }

    func discardPublished(by attempt: StepAttempt) {
        var bare = attempt
        (bare.secrets, bare.environment) = ([], [:])
        _ = try? machine.ask(.discard(AttemptOrder(bare)), Done.self)
    }

    func restore(_ outputs: StoredOutputs, inPlaceOf stale: StaleOutputs) throws {
        try asEngine {
            try OutputSending(outputs: outputs, machine: machine).send()
            _ = try machine.ask(
                .restore(sha256: outputs.sha256, inPlaceOf: stale), Done.self, limit: OpenRemotePlace.unpacking)
        }
    }

    func workspacePaths(of step: PlannedStep) -> [FilePath] { paths }
    var isLost: Bool { machine.isLost }

    private func asEngine(_ body: () throws -> Void) throws {
        do { try body() } catch let problem as MachineProblem { throw problem.error }
    }
}

/// Asks for the end of an attempt, on a thread of its own.
private final class StopNotes: Sendable {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    func send(_ request: StopRequest) {
        let code = startThread { [exchange] in try? exchange.note(StopOrder(request)) }
        if code != 0 { try? exchange.note(StopOrder(request)) }
    }
}
