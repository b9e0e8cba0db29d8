import Foundation
import MachinePool
import Pipeline
import Preparing
import Results
import RunSamples
import StateFiles
import Synchronization
import TestBasics
import Testing

@testable import Daemon
@testable import Running

/// What becomes of a run on another machine that nobody takes over.
@Suite(.timeLimit(.minutes(1))) struct LeftRunTests {
    private final class Ended: Sendable {
        private let traces = Mutex<[PlaceTrace]>([])
        func add(_ trace: PlaceTrace) { traces.withLock { $0.append(trace) } }
        var all: [PlaceTrace] { traces.withLock { $0 } }
    }

    private func leave(_ id: RunID, in state: StateFolder) throws -> PlaceTrace {
        let trace = PlaceTrace(machine: "slurm", agent: "allocation \(id)")
        let folder = "\(state.live)/\(id)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let left = LeftRun(id, trace, plan: Plan(workflow: "test", steps: []), tree: "0", startedAt: RunSample.start)
        try left.write(to: folder)
        return trace
    }

    private func unstarted(_ id: RunID) -> DaemonEvent {
        .unstarted(RunSample.report(id, verdict: .cancelled), RunSample.request())
    }

    @Test func `a run that is cancelled before it is taken over leaves nothing`() async throws {
        try await withTemporaryFolder { folder in
            let state = try StateFolder(environment: ["PIPECTL_HOME": folder])
            let (trace, ended) = (try leave(4, in: state), Ended())
            _ = try leave(5, in: state)
            let listener = LeftRunListener(state: state) { ended.add($0) }
            // Neither a run that left nothing nor one that is over elsewhere.
            #expect(!listener.wants(.ended(4)))
            await listener.receive(unstarted(3))
            #expect(ended.all.isEmpty)

            #expect(listener.wants(unstarted(4)))
            await listener.receive(unstarted(4))
            #expect(ended.all == [trace])
            #expect(LeftRun.all(in: state).map(\.left.run) == [5])
            #expect(!FileManager.default.fileExists(atPath: "\(state.live)/4"))
        }
    }
}
