package import Layers
import Concurrency
package import StateFiles
package import Control
import Engine
import Foundation
import Pipeline
package import Sandbox
import Synchronization
package import WorkflowPrograms

/// The sandboxes, limits and layers that this machine has.
package struct Sandboxing: Sendable {
    /// Nil if there is no sandbox: see ``obstacle``.
    package private(set) var sandbox: Sandbox?
    /// Why there is no sandbox, and what to do about it.
    package let obstacle: String?
    /// Nil if each process has limits of its own: see ``groupObstacle``.
    package let controlGroups: ControlGroups?
    /// Why there are no control groups.
    let groupObstacle: GroupObstacle?
    /// The users that steps run as.
    package let users: StepUsers
    let caches: CacheLocks
    /// Nil if workspaces can't have layers: see ``layeringObstacle``.
    package var layering: Layering?
    /// Why workspaces can't have layers, and what to do about it.
    var layeringObstacle: String?

    /// Tries out what this machine has.
    ///
    /// - Parameter stopSignal: The signal with which systemd stops the scope of the control groups; nil for its
    ///   default.
    package static func find(
        stepInit: String, toolchain: Toolchain?, folders: SandboxFolders, state: StateFolder, stopSignal: Int32? = nil
    ) async -> Sandboxing {
        var sandbox: Sandbox?
        var obstacle: String?
        do {
            sandbox = try await Sandbox.find(
                stepInit: stepInit, toolchain: toolchain?.swiftc, readable: folders.readable)
        } catch {
            obstacle = "\(error)"
        }
        let users = StepUsers(seed: state.path)
        var groups: ControlGroups?
        var groupObstacle: GroupObstacle?
        do {
            groups = try await ControlGroups.find(stopSignal: stopSignal)
        } catch { groupObstacle = GroupObstacle(error) }
        var layering: Layering?
        var layeringObstacle: String?
        do {
            layering = try await Layering.find(
                stepInit: stepInit, sandbox: sandbox, users: users, in: state.live)
        } catch {
            layeringObstacle = "\(error)"
        }
        return Sandboxing(
            sandbox: sandbox, obstacle: obstacle, controlGroups: groups, groupObstacle: groupObstacle,
            users: users, caches: CacheLocks(), layering: layering, layeringObstacle: layeringObstacle)
    }

    /// The same with a copy of the machine's settings in one folder, which makes starting a sandbox some milliseconds
    /// faster.
    ///
    /// - Parameter folder: A path in a state folder that this process owns.
    package func sharingSettings(in folder: String) async -> Sandboxing {
        guard Sandbox.hasMounts, sandbox != nil else { return self }
        var sharing = self
        sharing.sandbox?.settings = try? await offThread { try SettingsCopy(in: folder) }
        return sharing
    }

    /// The sandbox for compilers and workflow programs.
    package var programSandbox: ProgramSandbox { sandbox.map { ProgramSandbox($0, users: users) } ?? .none }

    /// In words, for `doctor` and the daemon's log.
    package var description: String {
        guard let sandbox else { return obstacle ?? "none" }
        return sandbox.program + (StepUsers.isPossible ? ", each run as a user of its own" : ", as this user")
    }

    /// All of it in words, for `doctor` and `status`.
    package var machine: MachineStatus {
        MachineStatus(
            sandbox: sandbox.map { _ in description }, sandboxObstacle: obstacle, limits: limits,
            workspaces: Layering.inWords(layeringObstacle))
    }

    /// How limits of steps are enforced, in words.
    package var limits: String { Sandboxing.limits(controlGroups, groupObstacle) }

    /// The same for these control groups, or for the obstacle to using them.
    package static func limits(_ groups: ControlGroups?, _ obstacle: GroupObstacle?) -> String {
        if let groups {
            return "\(groups.kind): memory, processes and CPU time of a step's processes together"
                + (groups.endsWithSession
                    ? "; a daemon ends with your last session unless you run `loginctl enable-linger`" : "")
        }
        return "rlimits only: memory and CPU time of each process by itself" + (obstacle.map { "; \($0.advice)" } ?? "")
    }
}

extension GroupObstacle {
    /// The error as an obstacle.
    package init(_ error: any Error) { self = error as? GroupObstacle ?? .refused("\(error)") }

    /// Why there are no control groups, and what to do about it.
    var advice: String {
        switch self {
        case .noHierarchy: "\(self)"
        case .noScope:
            "\(self). Start pipectl as a systemd service with Delegate=yes, or install dbus-user-session and log in again"
        case .notDelegated, .lacks, .kind, .shared, .refused:
            "\(self). Start pipectl as a systemd service with Delegate=yes"
        }
    }
}

/// Which run may write to which cache: one at a time, while others read it.
package final class CacheLocks: Sendable {
    private let held = Mutex<Set<String>>([])

    func take(_ path: String) -> Bool { held.withLock { $0.insert(path).inserted } }
    func giveBack(_ paths: [String]) { held.withLock { $0.subtract(paths) } }
}
