import Concurrency
import Control
import Foundation
import Logging
import MachineList
import MachinePool
import Pipeline
import Results
import StateFiles
import Synchronization
import TestBasics
import Testing

@testable import Placing
@testable import Workspaces

/// Runs that wait for machines.
@Suite(.timeLimit(.minutes(1))) struct PlacementTests {
    private static let label = MachineNeeds(traits: [.label("gpu")])

    private struct Bench {
        let list: MachineList
        let placement: Placement

        func add(_ name: String, slots: Int = 1) throws {
            try list.add(
                Machine(
                    name: name, address: .slurm(partition: name), traits: [.linux, .label("gpu")], cpus: 8,
                    memory: 16 << 30, slots: slots))
        }

        func run(_ id: Int, _ needs: MachineNeeds = PlacementTests.label) -> WaitingRun {
            WaitingRun(id: id, owner: "alpha", needs: needs, snapshot: "alpha/test", seconds: 60)
        }

        func warmUp(_ id: Int, on machine: String) -> WaitingRun {
            var run = run(id)
            (run.scope, run.patience) = (.only(machine), .untilFree)
            return run
        }

        func check(_ id: Int) -> WaitingRun {
            var run = run(id)
            run.patience = .none
            return run
        }

        func place(_ id: Int, _ wait: PlaceWait = PlaceWait()) async throws -> String {
            try await placement.machine(for: run(id), wait).name
        }
    }

    private func withBench(slots: Int = 1, _ body: @Sendable (Bench) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let list = MachineList(try StateFolder(environment: ["PIPECTL_HOME": folder]))
            try await body(
                Bench(list: list, placement: Placement(list, slots: slots, log: Logger(label: "test"))))
        }
    }

    @Test func `a run gets the machine that another one leaves`() async throws {
        try await withBench { bench in
            try bench.add("a")
            #expect(try await bench.place(1) == "a")
            let said = Happening()
            async let second = bench.place(
                2,
                PlaceWait { progress in if case .waits = progress { said.happens() } })
            try await said.wait()
            #expect(bench.placement.uses.first { $0.name == "a" }?.runs == [1])
            bench.placement.leave(1)
            #expect(try await second == "a")
            #expect(bench.placement.uses.first { $0.name == "a" }?.runs == [2])
        }
    }

    @Test func `a free machine with a snapshot goes first`() async throws {
        try await withBench { bench in
            for name in ["a", "b", "c"] { try bench.add(name) }
            await bench.placement.refresh(isPatient: false)
            bench.placement.note("alpha/test", on: "b", isThere: true)
            #expect(try await bench.place(1) == "b")
            #expect(try await bench.place(2) == "a", "without a gain, nobody waits for it")
            bench.placement.leave(1)
            bench.placement.note("alpha/test", on: "b", isThere: false)
            bench.placement.note("alpha/test", on: "c", isThere: true)
            #expect(try await bench.place(3) == "c")
        }
    }

    @Test func `a warm-up waits for its turn, but not for a machine that may not be used`() async throws {
        try await withBench { bench in
            try bench.add("a")
            #expect(try await bench.place(1) == "a")
            let run = bench.warmUp(2, on: "a")
            let said = Happening()
            async let second = bench.placement.machine(
                for: run, PlaceWait { progress in if case .waits = progress { said.happens() } })
            try await said.wait()
            bench.placement.leave(1)
            #expect(try await second.name == "a")
            bench.placement.leave(2)
            try bench.list.set(.draining, of: "a")
            await #expect(throws: PlaceWaitEnd.self) { try await bench.placement.machine(for: run, PlaceWait()) }
            _ = try bench.list.remove("a")
            await #expect(throws: PlaceWaitEnd.self) { try await bench.placement.machine(for: run, PlaceWait()) }
        }
    }

    @Test func `what does not wait has a free machine or none`() async throws {
        try await withBench { bench in
            try bench.add("a")
            let run = bench.check(2)
            #expect(try await bench.placement.machine(for: run, PlaceWait()).name == "a")
            bench.placement.leave(2)
            #expect(try await bench.place(1) == "a")
            await #expect(throws: PlaceWaitEnd.self) { try await bench.placement.machine(for: run, PlaceWait()) }
            bench.placement.leave(1)
            #expect(bench.placement.uses.allSatisfy { $0.runs.isEmpty })
        }
    }

    @Test func `a stop ends the wait, and whoever is behind gets the machine`() async throws {
        try await withBench { bench in
            try bench.add("a")
            #expect(try await bench.place(1) == "a")
            let (stop, said) = (StopSignal(), Happening())
            let wait = PlaceWait(stop: stop) { progress in if case .waits = progress { said.happens() } }
            let second = Task { try await bench.place(2, wait) }
            try await said.wait()
            let request = StopRequest(.superseded, reason: "a newer one came")
            stop.stop(request)
            await #expect(throws: PlaceWaitEnd.stopped(request)) { try await second.value }
            bench.placement.leave(1)
            #expect(try await bench.place(3) == "a")
        }
    }

    @Test func `a shutdown ends waits, but not runs that need not wait`() async throws {
        try await withBench { bench in
            try bench.add("a", slots: 1)
            #expect(try await bench.place(1) == "a")
            let said = Happening()
            let second = Task {
                try await bench.place(2, PlaceWait { progress in if case .waits = progress { said.happens() } })
            }
            try await said.wait()
            bench.placement.close()
            await #expect(throws: PlaceWaitEnd.shutdown) { try await second.value }
            bench.placement.leave(1)
            #expect(try await bench.place(3) == "a")
        }
    }

    @Test func `a machine that is added while a run waits is used`() async throws {
        try await withBench { bench in
            try bench.add("a")
            #expect(try await bench.place(1) == "a")
            let said = Happening()
            async let second = bench.place(
                2, PlaceWait { progress in if case .waits = progress { said.happens() } })
            try await said.wait()
            try bench.add("b")
            #expect(try await second == "b")
            #expect(bench.placement.otherSlots == 2)
        }
    }

    @Test func `a run that asks right after a machine was drained does not start there`() async throws {
        try await withBench { bench in
            try bench.add("a")
            try bench.add("b")
            #expect(try await bench.place(1) == "a")
            bench.placement.leave(1)
            try bench.list.set(.draining, of: "a")
            #expect(try await bench.place(2) == "b")
        }
    }

    @Test func `a run that no machine could ever have ends at once`() async throws {
        try await withBench { bench in
            await #expect(throws: PlaceUnavailable.self) { try await bench.place(1) }
            #expect(bench.placement.uses.isEmpty, "nothing is said of machines where there are none")
            let machine = try await bench.placement.machine(for: bench.run(2, MachineNeeds()), PlaceWait())
            #expect(machine.address == .here)
        }
    }

    @Test func `nothing is concluded from a list that can't be read`() async throws {
        try await withBench { bench in
            try "{".write(toFile: bench.list.path, atomically: true, encoding: .utf8)
            let (stop, said) = (StopSignal(), Happening())
            async let placed = bench.place(
                1, PlaceWait(stop: stop) { progress in if case .waits = progress { said.happens() } })
            try await said.wait()
            try FileManager.default.removeItem(atPath: bench.list.path)
            try bench.add("a")
            #expect(try await placed == "a")
        }
    }
}
