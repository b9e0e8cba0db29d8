import Concurrency
import Control
import Foundation
import Git
import Logging
import MachineList
import MachinePool
import Machines
import Pipeline
import Placing
import Results
import Sandbox
import StateFiles
import StepSlots
import Synchronization
import SystemPackage
import TestBasics
import TestSupport
import Testing

@testable import Engine
@testable import Workspaces

/// A repository, this machine as that of the daemon, and others whose agents are children of the test.
struct SpreadBench: Sendable {
    let room = RunFolder.current
    let repository: TestRepository
    let commit: String
    let placement: Placement
    let reach: Agents

    /// Another system than that of this machine.
    static let foreign: MachineTrait = ThisMachine.traits.contains(.macOS) ? .linux : .macOS

    /// - Parameter machines: By name, their labels and slots. Those named `cluster…` are reached through Slurm, those named
    ///   `…silent` never answer, those named `lost…` can't be reached, that named `foreign` says that it has another
    ///   system, and of that named `cluster-unknown` nobody knows the processor.
    static func make(
        _ machines: KeyValuePairs<String, (labels: [String], slots: Int)>, files: [String: String] = ["a": "one\n"]
    ) async throws -> SpreadBench {
        let room = RunFolder.current
        let repository = try await TestRepository.make(at: room.path("repository"))
        let commit = try await repository.commit(files, "one")
        let list = MachineList(try StateFolder(environment: ["PIPECTL_HOME": room.path("home")]))
        for (name, offer) in machines {
            try list.add(
                Machine(
                    name: name,
                    address: name.hasPrefix("cluster")
                        ? .slurm(partition: nil) : try #require(MachineAddress("ssh://ci@\(name)")),
                    traits: traits(name) + offer.labels.map { .label($0) },
                    cpus: 64, memory: 1 << 40,
                    slots: offer.slots))
        }
        let placement = Placement(list, slots: 4, log: Logger(label: "test"))
        await placement.refresh()
        return SpreadBench(
            repository: repository, commit: commit, placement: placement, reach: Agents(room: room))
    }

    private static func traits(_ name: String) -> [MachineTrait] {
        switch name {
        case "foreign": [foreign]
        case "cluster-unknown": Array(ThisMachine.traits.prefix(1))
        default: ThisMachine.traits
        }
    }

    /// Starts the agents of all machines, each with a folder of its own.
    final class Agents: MachineReach {
        private let room: RunFolder
        private let started = Mutex<[(machine: String, process: PipedProcess)]>([])
        /// How many ways to silent machines were tried, and how many of these were given up.
        let (asked, givenUp) = (Count(), Count())
        /// How often a machine that can't be reached was tried.
        let lost = Count()

        init(room: RunFolder) { self.room = room }

        func link(to machine: Machine, for order: PlaceOrder, _ nodes: TriedNodes) async throws -> any AgentLink {
            if machine.name.hasSuffix("silent") { return Silent(asked: asked, givenUp: givenUp) }
            if machine.name.hasPrefix("lost") {
                lost.add()
                throw LinkProblem(reason: "No route to host.")
            }
            var link = LocalLink([Products.path("pipectl-agent"), "--folder", folder(machine.name)])
            link.started = { process in self.started.withLock { $0.append((machine.name, process)) } }
            return link
        }

        func folder(_ machine: String) -> String { room.path("machines/\(machine)") }
        /// How many agents were started on a machine.
        func count(_ machine: String) -> Int { started.withLock { $0.count { $0.machine == machine } } }

        func kill(_ machine: String) {
            for one in started.withLock({ $0 }) where one.machine == machine {
                Foundation.kill(one.process.id, SIGKILL)
            }
        }
    }

    private struct Silent: AgentLink {
        let asked: Count
        let givenUp: Count

        func start() async throws -> AgentStream {
            asked.add()
            await untilCancelled()
            givenUp.add()
            throw CancellationError()
        }
    }

    /// The daemon's machine, without a sandbox.
    struct Here: PlaceProvider {
        let bench: SpreadBench

        func provide(_ order: PlaceOrder) async throws -> any ProvidedPlace {
            try ThisMachine.check(order.needs)
            let number = UInt32.random(in: 0 ... .max)
            let workspace = "\(bench.room.path("here"))/\(number)"
            try await bench.repository.git("worktree", "add", "--detach", workspace, bench.commit)
            let place = LocalPlace(
                workspace: FilePath(workspace), folder: FilePath(bench.room.path("beside-\(number)")),
                stepInit: RunFolder.stepInit)
            return Provided(place: place, workspaceView: workspace)
        }

        func skip(_ run: PreparedRun) async {}
    }

    private struct Provided: ProvidedPlace {
        let place: any RunPlace
        let workspaceView: String?
        var resumption: Resumption? { nil }
        var findings: [Finding] { [] }
        var delaysNextRun: Bool { false }
        func close(hasPassed: Bool, isAllEnded: Bool) async -> any FinishedPlace { Finished(isAllEnded: isAllEnded) }
        func abandon() async {}
    }

    private struct Finished: FinishedPlace {
        let isAllEnded: Bool
        var base: Report.Base? { nil }
        var cold: String? { nil }
        var resumed: RunID? { nil }
        func release(_ report: Report?) async {}
    }

    // MARK: Runs

    func order(_ plan: Plan, id: RunID = 1, stop: StopSignal = StopSignal()) throws -> PlaceOrder {
        let request = RunRequest(
            repository: "alpha", workflow: "test", event: .push, ref: "refs/heads/main", branch: "main", head: commit,
            definitionCommit: commit, subject: "", concurrency: .supersede)
        let git = "\(repository.path)/.git"
        let oid = try #require(OID(hex: commit))
        let prepared = PreparedRun(
            run: QueuedRun(id: id, request: request, createdAt: Date(timeIntervalSince1970: 0)),
            repository: SourceRepository(name: "alpha", gitDirectory: git, store: git, clone: nil), commit: oid,
            tree: oid, plan: plan, wholePlan: plan, definition: "definition", trust: .merged, startsForChanges: false,
            program: [], parameters: [:], environment: [:])
        var order = PlaceOrder(
            run: prepared,
            directories: RunDirectories(folder: room.path("live-\(id)"), workspace: room.path("none")),
            isWhole: true, rooms: [:], closureCommand: { _, _ in [] })
        order.wait = PlaceWait(stop: stop)
        return order
    }

    var places: MachinePlaces {
        var places = MachinePlaces(
            here: Here(bench: self), placement: placement, reach: reach, allowsUnsandboxed: true)
        places.checksKind = false
        return places
    }

    /// What came of a run.
    struct Ended: Sendable {
        var outcome: RunOutcome
        /// The machine of the run; nil for the daemon's.
        var machine: String?

        subscript(_ name: String) -> StepRecord {
            outcome.steps.first { $0.name == name } ?? StepRecord(name: "there is no step \(name)", command: "")
        }
    }

    /// Runs a plan as the daemon does, and gives everything back.
    ///
    /// - Parameter slots: Of the daemon's machine.
    func run(
        _ plan: Plan, id: RunID = 1, slots: Int = 4, stop: StopSignal = StopSignal(), checks: Set<String> = [],
        change: (inout RunSetting) -> Void = { _ in },
        emit: @escaping @Sendable (RunEvent) -> Void = { _ in }
    ) async throws -> Ended {
        let provided = try await places.provide(try order(plan, id: id, stop: stop))
        provided.check(checks)
        var setting = RunSetting(
            place: provided.place, folder: FilePath(room.path("run-\(id)")),
            environment: RunSetting.baseEnvironment(ProcessInfo.processInfo.environment), grace: .seconds(2))
        change(&setting)
        let pool = SlotPool(slots: provided.elsewhere?.steps ?? slots)
        let outcome = await Runner(setting: setting, pool: pool, emit: emit).run(plan, stop: stop)
        let machine = provided.elsewhere?.name
        _ = await provided.close(hasPassed: outcome.verdict == .passed, isAllEnded: outcome.isAllEnded)
        placement.leave(id)
        return Ended(outcome: outcome, machine: machine)
    }

    func log(_ step: StepRecord, attempt: Int = 1, run id: RunID = 1) -> String {
        guard let log = step.attempts.first(where: { $0.number == attempt })?.log,
            let data = FileManager.default.contents(atPath: room.path("run-\(id)") + "/logs/" + log.file)
        else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: Steps

    /// A line for a step that says that it has begun, and goes on when the test lets it.
    static func meeting(_ name: String = "step") -> String {
        "touch begun-\(name); while [ ! -e go-\(name) ] && [ ! -e go ]; do sleep 0.05; done"
    }

    /// The workspaces in which steps have begun, by step.
    func begun() -> [(step: String, workspace: String)] {
        let roots = [room.path("here"), room.path("machines")]
        return roots.flatMap { root in
            (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).compactMap { path in
                guard let name = path.split(separator: "/").last, name.hasPrefix("begun-") else { return nil }
                return (String(name.dropFirst(6)), "\(root)/\(path.dropLast(name.count + 1))")
            }
        }
    }

    /// Waits until so many steps have begun.
    @discardableResult
    func begun(_ count: Int) async throws -> [(step: String, workspace: String)] {
        try await eventually("\(count) steps have begun", within: .seconds(100)) { begun().count >= count }
        return begun()
    }

    func letGo() throws {
        for workspace in Set(begun().map(\.workspace)) {
            try "".write(toFile: "\(workspace)/go", atomically: false, encoding: .utf8)
        }
    }

    /// Nobody holds a machine any more, and no agent has files of a run.
    func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) {
        let uses = placement.uses
        #expect(uses.allSatisfy { $0.runs.isEmpty && $0.free == $0.slots }, "\(uses)", sourceLocation: sourceLocation)
        for use in uses where use.name != "this machine" {
            let runs = (try? FileManager.default.contentsOfDirectory(atPath: "\(reach.folder(use.name))/runs")) ?? []
            #expect(runs.isEmpty, "\(use.name)", sourceLocation: sourceLocation)
        }
        #expect(!FileManager.default.fileExists(atPath: room.path("live-1") + "/moved"), sourceLocation: sourceLocation)
    }
}

extension PlannedStep {
    static func shell(
        _ name: String, _ line: String, needs: [String] = [], change: (inout PlannedStep) -> Void = { _ in }
    ) -> PlannedStep {
        var step = PlannedStep(name: name, action: .shell(line), needs: needs)
        change(&step)
        return step
    }
}
