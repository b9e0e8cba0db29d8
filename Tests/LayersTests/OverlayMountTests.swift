import TestBasics
import TestSupport
@testable import Results
import Engine
import Foundation
import Git
import Pipeline
import SystemPackage
import StepSlots
import Testing

import Concurrency
import Sandbox
@testable import Layers

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What happens to a run when the process that holds its workspace dies, and to that process when the daemon dies.
@Suite(.enabled(if: Overlays.isPossible, "nothing can be mounted here"), .timeLimit(.minutes(2)))
struct OverlayMountTests {
    private static let content = "M 100644 inline file\ndata 2\n1\n\n"

    @Test func `a run whose mount process is killed says so`() async throws {
        try await LayerGround.with { ground in
            let user = try ground.users.take()
            let space = try await ground.workspace(try await ground.commit(OverlayMountTests.content), user: user)
            let mount = try #require(space.mount)
            let folder = "\(ground.folder)/run"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            var place = LocalPlace(
                workspace: FilePath(space.path), folder: FilePath(folder), stepInit: FilePath(ground.layering.stepInit))
            place.workspaceMount = mount
            place.runSandbox = RunSandbox(sandbox: ground.sandbox, user: user)
            let setting = RunSetting(
                place: place, folder: FilePath(folder),
                environment: RunSetting.baseEnvironment(ProcessInfo.processInfo.environment))
            let runner = Runner(setting: setting, pool: SlotPool(slots: 1)) { _ in }
            func plan(_ script: String, _ artifacts: [String] = []) -> Plan {
                var step = PlannedStep(name: "step", action: .shell(script))
                step.artifacts = artifacts
                return Plan(workflow: "test", steps: [step])
            }
            let good = await runner.run(plan("echo 2 > made; cat file made", ["made"]), stop: StopSignal())
            #expect(good.verdict == .passed, "\(good.reason)")
            #expect(good.artifacts.map(\.path) == ["made"])
            #expect(mount.isThere())

            let holder = try #require(pid_t(mount.enter[2]))
            #expect(kill(holder, SIGKILL) == 0)
            try await eventually("the end of the mount") { !mount.isThere() }
            let lost = await runner.run(plan("true"), stop: StopSignal())
            #expect(lost.verdict == .infrastructure)
            #expect(lost.steps.first?.reason?.contains("holds the run's workspace was killed") == true)
            // Open descriptors stay valid, so results of steps that had ended are still read.
            #expect(try String(contentsOfFile: "\(space.view)/made", encoding: .utf8) == "2\n")
            await space.close()
            #expect(!FileManager.default.fileExists(atPath: "\(space.folder)/merged/file"))
        }
    }

    @Test func `the mount process ends with its socket and nothing else`() async throws {
        try await LayerGround.with { ground in
            let space = try await ground.workspace(try await ground.commit(OverlayMountTests.content))
            let mount = try #require(space.mount)
            let holder = try #require(pid_t(mount.enter[2]))
            // The signals that a service manager or a terminal sends to all processes.
            for signal in [SIGTERM, SIGINT, SIGHUP] { #expect(kill(holder, signal) == 0) }
            #expect(try await ground.step("cat file", in: space, as: try ground.users.take()) == "1\n")
            #expect(mount.isThere())
            await space.close()
            #expect(kill(holder, 0) != 0, "it is gone, and waited for")
            #expect(!mount.isThere())
        }
    }

    enum Harm: CaseIterable { case none, killed, folderRemoved }

    /// Kills it, removes its folder, and waits for it; returns the process's number.
    private func wait(_ folder: String, _ harm: Harm, _ ground: LayerGround) async throws -> (OverlayMount, String) {
        let waiting = try Workspace.open(at: folder, user: nil, layering: ground.layering)
        try waiting.waitUntilOpen()
        let pid = waiting.enter[2]
        #expect(waiting.isRunning)
        switch harm {
        case .none: break
        case .killed:
            #expect(kill(try #require(pid_t(pid)), SIGKILL) == 0)
            try await eventually("the end of the mount") { !waiting.isRunning }
        case .folderRemoved: try await Workspace.remove("\(folder)/tree")
        }
        return (waiting, pid)
    }

    @Test(arguments: Harm.allCases) func `a mount process that died while it waited is replaced`(harm: Harm)
        async throws
    {
        try await LayerGround.with { ground in
            let commit = try await ground.commit(OverlayMountTests.content)
            let base = try await ground.seal(try await ground.workspace(commit))
            let next = try await ground.commit("M 100644 inline other\ndata 2\n2\n\n")
            let folder = ground.space("waiting")
            let (waiting, pid) = try await wait(folder, harm, ground)
            let space = try await Workspace.make(
                at: folder, commit: next, store: ground.store, base: base, layering: ground.layering,
                isOpen: true, opened: waiting)
            #expect(space.problem == nil && space.isOverBase)
            #expect((space.enter[2] == pid) == (harm == .none))
            for (name, content) in [("file", "1\n"), ("other", "2\n")] {
                #expect(try String(contentsOfFile: "\(space.view)/\(name)", encoding: .utf8) == content)
            }
            await space.close()
        }
    }

    @Test(arguments: Harm.allCases) func `a mount process that waited for layers serves a plain checkout`(harm: Harm)
        async throws
    {
        try await LayerGround.with { ground in
            let commit = try await ground.commit(OverlayMountTests.content)
            let folder = ground.space("waiting")
            let (waiting, _) = try await wait(folder, harm, ground)
            defer { waiting.close() }
            let space = try await Workspace.make(
                at: folder, commit: commit, store: ground.store, layering: ground.layering, isOpen: true,
                opened: waiting)
            #expect(space.mount == nil && space.problem == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: space.path).sorted() == [".git", "file"])
        }
    }

    @Test func `files written before the mount are in it`() async throws {
        try await LayerGround.with { ground in
            let folder = ground.space("prepared")
            for name in ["upper", "work", "merged", "under"] {
                try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            }
            func prepare() throws -> OverlayMount {
                let holder = try OverlayMount.open(stepInit: ground.layering.stepInit, folder: folder, user: nil)
                holder.take([.init(path: "\(folder)/under", owner: .daemon)])
                return holder
            }
            let given = try prepare()
            #expect(given.place == nil)
            given.close()
            #expect(throws: OverlayProblem.self) { try given.mount() }

            let holder = try prepare()
            defer { holder.close() }
            try FileManager.default.createDirectory(atPath: "\(folder)/under/late", withIntermediateDirectories: true)
            try Data("1\n".utf8).write(to: URL(fileURLWithPath: "\(folder)/under/late/file"))
            try holder.mount()
            let place = try #require(holder.place)
            #expect(try String(contentsOfFile: "\(place.view)/late/file", encoding: .utf8) == "1\n")
            #expect(throws: OverlayProblem.self) { try holder.mount() }
        }
    }
}
