import Workspaces
public import StateFiles
import Control
import Engine
import Foundation
import Sandbox
import WorkflowPrograms

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What `pipectl doctor` asks about the machine.
public enum BoxDoctor {
    /// The path of `stepinit`, or an error that names where it was looked for.
    public static func stepInit() throws -> String { try Installation.stepInit() }

    /// The path of `swift-reader`, or an error that names where it was looked for.
    public static func swiftReader() throws -> String { try Installation.swiftReader() }

    /// What encloses steps here, or an error that says why nothing can.
    public static func sandbox(_ state: StateFolder) async throws -> String {
        let toolchain = try? await Toolchain.find(memory: "\(state.programs)/toolchain.json")
        let found = await Sandboxing.find(
            stepInit: try stepInit(), toolchain: toolchain, folders: SandboxFolders(), state: state)
        found.controlGroups?.close()
        if let obstacle = found.obstacle { throw SandboxProblem(obstacle) }
        return found.description
    }

    /// How workspaces are made here, in words.
    public static func workspaces(_ state: StateFolder) async throws -> String {
        let helper = try stepInit()
        let toolchain = try? await Toolchain.find(memory: "\(state.programs)/toolchain.json")
        let sandbox = try? await Sandbox.find(stepInit: helper, toolchain: toolchain?.swiftc)
        do {
            _ = try await Layering.find(
                stepInit: helper, sandbox: sandbox, users: StepUsers(seed: "\(state.path) \(getpid())"),
                in: state.live)
            return Layering.inWords(nil)
        } catch {
            return Layering.inWords("\(error)")
        }
    }

    /// What holds steps to their limits here, in words.
    public static func limits() async -> String {
        do {
            let groups = try await ControlGroups.find()
            defer { groups.close() }
            return Sandboxing.limits(groups, nil)
        } catch {
            return Sandboxing.limits(nil, GroupObstacle(error))
        }
    }

    /// Whether this libgit2 has what pipectl uses.
    public static func isSupported(libgit2 version: String) -> Bool {
        let parts = version.split(separator: ".").compactMap { Int($0) }
        return parts.count >= 2 && (parts[0], parts[1]) >= (1, 5)
    }

    /// How many files a process may have open, now and at most.
    public static func openFileLimit() -> (soft: Int, hard: Int) {
        var limit = rlimit()
        #if os(Linux)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }
}
