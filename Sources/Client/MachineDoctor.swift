import Layers
import Workspaces
import StateFiles
import Engine
import Foundation
import Sandbox
import WorkflowPrograms

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The machine's facts for `pipectl doctor`.
enum MachineDoctor {
    /// The path of `stepinit`. Throws an error that names the searched places.
    static func stepInit() throws -> String { try Installation.stepInit() }

    /// The path of `swift-reader`. Throws an error that names the searched places.
    static func swiftReader() throws -> String { try Installation.swiftReader() }

    /// The sandbox that steps get here. Throws an error that says why none is possible.
    static func sandbox(_ state: StateFolder) async throws -> String {
        let toolchain = try? await Toolchain.find(memory: "\(state.programs)/toolchain.json")
        let found = await Sandboxing.find(
            stepInit: try stepInit(), toolchain: toolchain, folders: SandboxFolders(), state: state)
        found.controlGroups?.close()
        if let obstacle = found.obstacle { throw SandboxProblem(obstacle) }
        return found.description
    }

    /// How workspaces are made here, in words.
    static func workspaces(_ state: StateFolder) async throws -> String {
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

    /// How limits of steps are enforced here, in words.
    static func limits() async -> String {
        do {
            let groups = try await ControlGroups.find()
            defer { groups.close() }
            return Sandboxing.limits(groups, nil)
        } catch {
            return Sandboxing.limits(nil, GroupObstacle(error))
        }
    }

    /// Whether this version of libgit2 has what pipectl needs.
    static func isSupported(libgit2 version: String) -> Bool {
        let parts = version.split(separator: ".").compactMap { Int($0) }
        return parts.count >= 2 && (parts[0], parts[1]) >= (1, 5)
    }

    /// The soft and hard limit of open files of a process.
    static func openFileLimit() -> (soft: Int, hard: Int) {
        var limit = rlimit()
        #if os(Linux)
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            getrlimit(RLIMIT_NOFILE, &limit)
        #endif
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }
}
