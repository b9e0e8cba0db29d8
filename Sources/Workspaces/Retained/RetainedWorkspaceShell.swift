import Layers
public import StateFiles
import Control
import SystemCalls
import Results
import Engine
public import Pipeline

import Foundation
public import Sandbox
import SystemPackage
import WorkflowPrograms

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A copy of a failed run's workspace for a person, in the sandbox of its steps.
///
/// It needs no daemon: the owner of the state folder may look into it.
public struct RetainedWorkspaceShell: Sendable {
    public let workspace: RetainedWorkspace
    /// The step whose environment the shell has.
    public let step: PlannedStep
    /// The command or shell to start.
    public let opened: OpenedStep
    private let space: Workspace
    private let folder: String

    /// Makes a copy of the workspace, calls `body` with it, and removes it.
    ///
    /// - Parameters:
    ///   - name: The step whose environment and permissions to use; nil for the first step that failed.
    ///   - command: The command to start; empty for a shell.
    /// - Throws: ``RequestError`` if there is no such workspace or step; errors of the copy.
    public static func with<Result>(
        run: Int64, step name: String?, command: [String], state: StateFolder, folders: SandboxFolders,
        _ body: (RetainedWorkspaceShell) throws -> Result
    ) async throws -> Result {
        try state.create()
        let all = RetainedWorkspaceStore.find(in: state.retained, snapshots: state.snapshots)
        guard let workspace = all.first(where: { $0.run == run }) else {
            let others = all.sorted { $0.run > $1.run }.prefix(5).map { String($0.run) }
            throw RequestError(
                .unknownRun,
                "run \(run) has no retained workspace: only failed runs leave one, for the time and in the space that "
                    + "`pipectl watch --keep-failed` sets, until the machine restarts. "
                    + (others.isEmpty ? "There are none now." : "Runs with one: \(others.joined(separator: ", "))."))
        }
        let step = try chosen(name, of: workspace)
        let lock = try RetainedWorkspaceLock("\(state.retained)/\(workspace.folder)")
        defer { lock.release() }
        let folder = try makeFolder(in: state.retained)
        let own = try RetainedWorkspaceLock(folder)
        defer { own.release() }
        do {
            let shell = try await RetainedWorkspaceShell(workspace, step, command, at: folder, state, folders)
            defer { shell.close() }
            return try body(shell)
        } catch {
            try? FolderRemoval.remove(folder)
            throw error
        }
    }

    private static func chosen(_ name: String?, of workspace: RetainedWorkspace) throws -> PlannedStep {
        let steps = workspace.plan.steps.filter(\.action.startsProcess)
        let failed = steps.first { workspace.outcomes[$0.name]?.isFailure == true }
        guard let step = name.map({ name in steps.first { $0.name == name } }) ?? failed ?? steps.first else {
            throw RequestError(
                .usage,
                "run \(workspace.run) has no step \"\(name ?? "")\"; it has \(steps.map(\.name).joined(separator: ", "))"
            )
        }
        return step
    }

    /// Among the retained ones: what cleans up there leaves locked folders alone.
    private static func makeFolder(in folder: String) throws -> String {
        let path = "\(folder)/open-\(getpid())-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        guard mkdir(path, 0o700) == 0 else { throw SystemFailure("mkdir") }
        return path
    }

    private init(
        _ workspace: RetainedWorkspace, _ step: PlannedStep, _ command: [String], at folder: String,
        _ state: StateFolder,
        _ folders: SandboxFolders
    ) async throws {
        self.workspace = workspace
        self.step = step
        self.folder = folder
        let stepInit = try Installation.stepInit()
        let toolchain = try? await Toolchain.find(memory: "\(state.programs)/toolchain.json")
        let sandboxing = await Sandboxing.find(
            stepInit: stepInit, toolchain: toolchain, folders: folders, state: state)
        // A daemon may use the same state folder at the same time.
        let users = StepUsers(seed: "\(state.path) \(getpid())")
        let user = sandboxing.sandbox == nil ? nil : try users.take()
        let files = "\(folder)/run"
        try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
        space = try await Workspace.resume(
            at: "\(folder)/workspace", workspace, user: user, layering: sandboxing.layering)
        do {
            for (name, path) in RetainedWorkspace.folders {
                let source = "\(state.retained)/\(workspace.folder)/\(name)"
                guard FileManager.default.fileExists(atPath: source) else { continue }
                try await Workspace.copy(source, to: "\(files)/\(path)")
            }
            var place = LocalPlace(
                workspace: FilePath(space.path), folder: FilePath(files), stepInit: FilePath(stepInit))
            place.workspaceMount = space.mount
            if let sandbox = sandboxing.sandbox {
                var mounts = workspace.program.map { SandboxMount($0) }
                mounts += workspace.objects.map { SandboxMount($0, isOptional: true) }
                mounts += folders.shared.map { SandboxMount($0, .write) } + folders.writable.map { SandboxMount($0) }
                var caches: [String: SandboxMount] = [:]
                for name in Set(workspace.plan.steps.flatMap(\.caches).map(\.name)) {
                    let path = "\(state.caches)/\(workspace.repository)/\(name)"
                    guard FileManager.default.fileExists(atPath: path) else { continue }
                    caches[name] = SandboxMount(path, at: Sandbox.hasMounts ? "\(Sandbox.Place.caches)/\(name)" : path)
                }
                place.runSandbox = RunSandbox(sandbox: sandbox, user: user, mounts: mounts, caches: caches)
            }
            opened = try place.shell(
                for: step, of: workspace.plan, environment: workspace.environment,
                command: command.isEmpty ? RetainedWorkspaceShell.shell : command)
        } catch {
            await space.close()
            throw error
        }
    }

    private static var shell: [String] {
        let bash = "/bin/bash"
        guard access(bash, X_OK) == 0 else { return ["/bin/sh"] }
        return TerminalSession.isAtTerminal ? [bash, "--norc", "-i"] : [bash, "--norc"]
    }

    private func close() {
        space.closeNow()
        try? FolderRemoval.remove(folder)
    }
}
