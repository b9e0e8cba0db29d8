import Concurrency
import Control
import Engine
import Foundation
import Git
import Logging
import MachineList
import MachinePool
import Machines
import Pipeline
import Results
import StateFiles
import Synchronization
import TestBasics
import Testing

@testable import Placing
@testable import Workspaces

/// Which machine is asked for a place, and what happens if it has none.
@Suite(.timeLimit(.minutes(1))) struct MachinePlacesTests {
    private static let label = MachineNeeds(traits: [.label("gpu")])

    /// The daemon's machine: it has no places, and counts who asks.
    private struct Here: PlaceProvider {
        let asked = Count()

        func provide(_ order: PlaceOrder) async throws -> any ProvidedPlace {
            asked.add()
            throw Nothing()
        }

        func skip(_ run: PreparedRun) async {}
    }

    /// Machines that can't be reached: the way to each throws what the test says.
    private struct Nowhere: MachineReach {
        let body: @Sendable (Machine, TriedNodes) async throws -> any AgentLink

        final class Names: Sendable {
            private let names = Mutex<[String]>([])
            func add(_ name: String) { names.withLock { $0.append(name) } }
            var all: [String] { names.withLock { $0 } }
        }

        let names = Names()

        init(_ body: @escaping @Sendable (Machine, TriedNodes) async throws -> any AgentLink) { self.body = body }

        func link(to machine: Machine, for order: PlaceOrder, _ nodes: TriedNodes) async throws -> any AgentLink {
            names.add(machine.name)
            return try await body(machine, nodes)
        }
    }

    private struct Nothing: Error {}

    private struct Bench {
        let folder: String
        let placement: Placement

        func order(
            _ steps: [PlannedStep], stop: StopSignal = StopSignal(), machine: String? = nil
        ) throws -> PlaceOrder {
            let commit = String(repeating: "1", count: 40)
            var request = RunRequest(
                repository: "alpha", workflow: "test", event: .push, ref: "refs/heads/main", branch: "main",
                head: commit, definitionCommit: commit, subject: "", concurrency: .supersede)
            request.options.machine = machine
            let plan = Plan(workflow: "test", steps: steps)
            let id = try #require(OID(hex: commit))
            let prepared = PreparedRun(
                run: QueuedRun(id: 1, request: request, createdAt: Date(timeIntervalSince1970: 0)),
                repository: SourceRepository(name: "alpha", gitDirectory: folder, store: folder, clone: nil),
                commit: id, tree: id, plan: plan, wholePlan: plan, definition: "", trust: .merged,
                startsForChanges: false, program: [], parameters: [:], environment: [:])
            var order = PlaceOrder(
                run: prepared, directories: RunDirectories(folder: folder, workspace: "\(folder)/none"), isWhole: true,
                rooms: [:], closureCommand: { _, _ in [] })
            order.wait = PlaceWait(stop: stop)
            return order
        }
    }

    private func withBench(
        _ machines: [String], _ body: @Sendable (Bench) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let list = MachineList(try StateFolder(environment: ["PIPECTL_HOME": folder]))
            for name in machines {
                try list.add(
                    Machine(
                        name: name, address: .slurm(partition: name), traits: [.linux, .label("gpu")], cpus: 8,
                        memory: 16 << 30))
            }
            try await body(
                Bench(folder: folder, placement: Placement(list, slots: 1, log: Logger(label: "test"))))
        }
    }

    private func step(_ change: (inout PlannedStep) -> Void = { _ in }) -> PlannedStep {
        var step = PlannedStep(name: "s", action: .shell("true"))
        change(&step)
        return step
    }

    @Test func `a machine that can't be reached is left out, and the next one asked`() async throws {
        try await withBench(["a", "b"]) { bench in
            let stop = StopSignal()
            let reach = Nowhere { machine, _ in
                if machine.name == "b" { stop.stop(StopRequest(.cancelled, reason: "enough")) }
                throw LinkProblem(reason: "No route to host.")
            }
            let places = MachinePlaces(
                here: Here(), placement: bench.placement, reach: reach, allowsUnsandboxed: true)
            let order = try bench.order([step { $0.machine = MachinePlacesTests.label }], stop: stop)
            await #expect(throws: PlaceWaitEnd.self) { try await places.provide(order) }
            #expect(reach.names.all == ["a", "b"])
            let uses = bench.placement.uses.filter { $0.name != "this machine" }
            #expect(uses.allSatisfy { $0.runs.isEmpty && $0.reason?.contains("No route to host.") == true }, "\(uses)")
        }
    }

    @Test func `a machine without what this run needs stays good for others`() async throws {
        try await withBench(["a"]) { bench in
            let reach = Nowhere { _, _ in throw PlaceUnavailable(reason: "it has no sandbox") }
            let places = MachinePlaces(
                here: Here(), placement: bench.placement, reach: reach, allowsUnsandboxed: true)
            let order = try bench.order([step { $0.machine = MachinePlacesTests.label }])
            let problem = await #expect(throws: PlaceUnavailable.self) { try await places.provide(order) }
            #expect(problem?.reason == "it has no sandbox")
            #expect(reach.names.all == ["a"])
            #expect(bench.placement.uses.allSatisfy { $0.reason == nil && $0.runs.isEmpty })
        }
    }

    @Test func `a run for one machine ends if that can't have it`() async throws {
        try await withBench(["a", "b"]) { bench in
            let reach = Nowhere { _, _ in throw PlaceUnavailable(reason: "it has no sandbox") }
            let places = MachinePlaces(
                here: Here(), placement: bench.placement, reach: reach, allowsUnsandboxed: true)
            var order = try bench.order([step()])
            order.run.run.request.options.machine = "a"
            let wanted = order
            await #expect(throws: PlaceUnavailable.self) { try await places.provide(wanted) }
            #expect(reach.names.all == ["a"])
        }
    }

    /// A way to a machine that always fails, on a node if it has one.
    private struct Failing: AgentLink {
        let error: any Error
        var node: (@Sendable () -> Void)?

        func start() async throws -> AgentStream {
            node?()
            throw error
        }
    }

    private struct Refused: LinkError, CustomStringConvertible {
        let isOfRequest = true
        let description = "no node has both"
    }

    private func places(_ bench: Bench, _ reach: Nowhere) -> MachinePlaces {
        MachinePlaces(here: Here(), placement: bench.placement, reach: reach, allowsUnsandboxed: true)
    }

    @Test func `a machine that refuses a request stays good for others, which are asked`() async throws {
        try await withBench(["a", "b"]) { bench in
            let reach = Nowhere { _, _ in Failing(error: Refused()) }
            let gpu = step { $0.machine = MachinePlacesTests.label }
            let problem = await #expect(throws: PlaceUnavailable.self) {
                try await places(bench, reach).provide(try bench.order([gpu]))
            }
            #expect(problem?.reason.contains("no node has both") == true)
            #expect(reach.names.all == ["a", "b"])
            #expect(bench.placement.uses.allSatisfy { $0.reason == nil && $0.runs.isEmpty })
            // A run for one machine has no other.
            await #expect(throws: PlaceUnavailable.self) {
                try await places(bench, reach).provide(try bench.order([gpu], machine: "b"))
            }
            #expect(reach.names.all == ["a", "b", "b"])
        }
    }

    @Test func `a run that gets no place anywhere ends`() async throws {
        try await withBench((1...9).map { "m\($0)" }) { bench in
            let reach = Nowhere { _, _ in Failing(error: LinkProblem(reason: "No route to host.")) }
            let order = try bench.order([step { $0.machine = MachinePlacesTests.label }])
            let problem = await #expect(throws: PlaceUnavailable.self) {
                var places = places(bench, reach)
                places.mostLosses = 8
                return try await places.provide(order)
            }
            #expect(problem?.reason.contains("No route to host.") == true)
            #expect(reach.names.all.count == 8)
            #expect(bench.placement.uses.allSatisfy { $0.runs.isEmpty })
        }
    }

    /// The nodes that each allocation avoids.
    private final class Avoided: Sendable {
        private let lists = Mutex<[[String]]>([])
        func add(_ nodes: [String]) { lists.withLock { $0.append(nodes) } }
        var all: [[String]] { lists.withLock { $0 } }
    }

    /// The machine `a` has nodes n1, n2, … and each fails; `b` stops the run.
    private func nodes(
        _ bench: Bench, have count: Int, _ avoided: Avoided, stop: StopSignal
    ) -> Nowhere {
        Nowhere { machine, nodes in
            guard machine.name == "a" else {
                stop.stop(StopRequest(.cancelled, reason: "enough"))
                return Failing(error: LinkProblem(reason: "It is stopped."))
            }
            let failed = nodes.failed
            avoided.add(failed)
            guard failed.count < count else { return Failing(error: Refused()) }
            return Failing(error: LinkProblem(reason: "The disk is full.")) { nodes.take("n\(failed.count + 1)") }
        }
    }

    @Test(arguments: [1, 2, 9]) func `a node that fails is avoided, and several are the cluster's loss`(count: Int)
        async throws
    {
        try await withBench(["a", "b"]) { bench in
            let (avoided, stop) = (Avoided(), StopSignal())
            let reach = nodes(bench, have: count, avoided, stop: stop)
            let order = try bench.order([step { $0.machine = MachinePlacesTests.label }], stop: stop)
            await #expect(throws: PlaceWaitEnd.self) {
                var places = places(bench, reach)
                (places.mostRounds, places.nodePause) = (1, .zero)
                return try await places.provide(order)
            }
            let expected: [[String]] = [[], ["n1"], ["n1", "n2"]]
            #expect(avoided.all == Array(expected.prefix(count + 1)))
            let isLost = bench.placement.uses.first { $0.name == "a" }?.reason?.contains("The disk is full.") == true
            #expect(isLost == (count > 1))
        }
    }

    @Test func `a run whose only node fails tries it again, and ends with its reason at last`() async throws {
        try await withBench(["a"]) { bench in
            let avoided = Avoided()
            let reach = nodes(bench, have: 1, avoided, stop: StopSignal())
            let order = try bench.order([step { $0.machine = MachinePlacesTests.label }])
            let problem = await #expect(throws: PlaceUnavailable.self) {
                var places = places(bench, reach)
                (places.mostRounds, places.nodePause) = (3, .zero)
                return try await places.provide(order)
            }
            #expect(avoided.all == [[], ["n1"], [], ["n1"], [], ["n1"]])
            #expect(problem?.reason.contains("The disk is full.") == true)
            #expect(bench.placement.uses.allSatisfy { $0.reason == nil })
        }
    }

    @Test func `what another machine can't run stays on the daemon's`() async throws {
        try await withBench(["a"]) { bench in
            let here = Here()
            let reach = Nowhere { _, _ in throw Nothing() }
            let places = MachinePlaces(here: here, placement: bench.placement, reach: reach, allowsUnsandboxed: true)
            let closure = PlannedStep(name: "c", action: .closure)
            // The failure of the daemon's own machine is none of another one's.
            for steps in [[closure], [step()]] {
                let order = try bench.order(steps)
                await #expect(throws: Nothing.self) { try await places.provide(order) }
            }
            #expect(here.asked.value == 2 && reach.names.all.isEmpty)
            // Another machine is only for the step that asks for it.
            let free = try bench.order([closure, step { $0.machine = MachinePlacesTests.label }])
            await #expect(throws: Nothing.self) { try await places.provide(free) }
            #expect(here.asked.value == 3 && reach.names.all.isEmpty)
            // No machine has both.
            let both = try bench.order([
                closure,
                step {
                    $0.machine = MachinePlacesTests.label
                    $0.needs = ["c"]
                },
            ])
            let problem = await #expect(throws: PlaceUnavailable.self) { try await places.provide(both) }
            #expect(problem?.reason.contains("\"c\"") == true)
        }
    }

    @Test func `a run that is stopped while a machine is prepared leaves it`() async throws {
        try await withBench(["a"]) { bench in
            let (stop, begun) = (StopSignal(), Happening())
            let reach = Nowhere { _, _ in Silent(begun: begun) }
            let places = MachinePlaces(
                here: Here(), placement: bench.placement, reach: reach, allowsUnsandboxed: true)
            let order = try bench.order([step { $0.machine = MachinePlacesTests.label }], stop: stop)
            let provided = Task { _ = try await places.provide(order) }
            try await begun.wait()
            #expect(bench.placement.uses.first { $0.name == "a" }?.runs == [1])
            let request = StopRequest(.cancelled, reason: "not wanted")
            stop.stop(request)
            await #expect(throws: PlaceWaitEnd.stopped(request)) { try await provided.value }
            #expect(bench.placement.uses.allSatisfy { $0.reason == nil && $0.runs.isEmpty })
        }
    }

    /// A way to a machine that never arrives.
    private struct Silent: AgentLink {
        let begun: Happening

        func start() async throws -> AgentStream {
            begun.happens()
            await untilCancelled()
            throw CancellationError()
        }
    }
}
