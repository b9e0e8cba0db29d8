import Concurrency
import Foundation
import Git
import MachineProtocol
import Pipeline
import StepSlots
import Sandbox
import Synchronization
import SystemPackage
import TestBasics
import TestSupport

@testable import Engine
@testable import Machines
@testable import Results

/// A repository, and a machine whose agent is a child of the test.
struct MachineBench: Sendable {
    let room = RunFolder.current
    let repository: TestRepository
    /// The name of the machine's folder.
    var folder = "machine"
    /// The path of a folder that it shares with other machines.
    var shared: String?

    static func make() async throws -> MachineBench {
        MachineBench(repository: try await .make(at: RunFolder.current.path("repository")))
    }

    var agentFolder: String { room.path(folder) }
    /// The folders of runs that the machine has.
    var runs: [String] { (try? FileManager.default.contentsOfDirectory(atPath: "\(agentFolder)/runs")) ?? [] }

    func link(started: @escaping @Sendable (PipedProcess) -> Void = { _ in }) -> LocalLink {
        var link = LocalLink(
            [Products.path("pipectl-agent"), "--folder", agentFolder] + (shared.map { ["--shared", $0] } ?? []))
        link.started = started
        return link
    }

    /// Makes a workspace of the commit on the machine, and calls `body` with the place.
    func withMachine<Value: Sendable>(
        at commit: String, lifetime: Duration = .seconds(120), silence: Duration = .seconds(30),
        caches: [String] = [], started: @escaping @Sendable (PipedProcess) -> Void = { _ in },
        _ body: @Sendable (RemotePlace, MachineClient) async throws -> Value
    ) async throws -> Value {
        let client = try await MachineClient.connect(
            link(started: started), machine: "other", lifetime: lifetime, silence: silence)
        do {
            guard let id = OID(hex: commit) else { throw LinkProblem(reason: "\(commit) is no commit") }
            try await CommitTransfer(
                store: "\(repository.path)/.git", mirror: "repository", commit: id, folder: room.path("packs")
            ).makeWorkspace(
                WorkspaceOrder(
                    repository: "repository", commit: commit, needsSandbox: false, caches: caches,
                    writesCaches: true), on: client)
            let value = try await body(RemotePlace(machine: client), client)
            await client.end()
            return value
        } catch {
            await client.end()
            throw error
        }
    }

    func setting(_ place: any RunPlace, run: String = "run", change: (inout RunSetting) -> Void = { _ in })
        -> RunSetting
    {
        var setting = RunSetting(
            place: place, folder: FilePath(room.path(run)),
            environment: RunSetting.baseEnvironment(ProcessInfo.processInfo.environment), grace: .seconds(2))
        change(&setting)
        return setting
    }

    /// This machine as the place of a run, without a sandbox.
    func localPlace(_ run: String) -> LocalPlace {
        LocalPlace(
            workspace: FilePath(room.workspace), folder: FilePath(room.path(run)), stepInit: RunFolder.stepInit)
    }

    func log(_ step: StepRecord, attempt: Int = 1, run: String = "run") -> String {
        guard let log = step.attempts.first(where: { $0.number == attempt })?.log,
            let data = FileManager.default.contents(atPath: room.path(run) + "/logs/" + log.file)
        else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}

/// Runs a plan with these steps.
func run(
    _ steps: [PlannedStep], _ setting: RunSetting, stop: StopSignal = StopSignal(),
    emit: @escaping @Sendable (RunEvent) -> Void = { _ in }
) async -> RunOutcome {
    await Runner(setting: setting, pool: SlotPool(slots: 4), emit: emit).run(
        Plan(workflow: "test", steps: steps), stop: stop)
}

extension RunOutcome {
    subscript(_ name: String) -> StepRecord {
        steps.first { $0.name == name } ?? StepRecord(name: "there is no step \(name)", command: "")
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
