import Foundation
import Layers
import MachineProtocol
import Sandbox

/// What encloses and limits steps on the agent's machine.
struct AgentSandbox: Sendable {
    /// Nil if nothing does; see ``obstacle``.
    var sandbox: Sandbox?
    var obstacle: String?
    var controlGroups: ControlGroups?

    /// Tries out what this machine has.
    static func find(stepInit: String, readable: [String]) async -> AgentSandbox {
        var found = AgentSandbox()
        do {
            found.sandbox = try await Sandbox.find(
                stepInit: stepInit, toolchain: ThisMachine.program("swiftc"), readable: readable)
        } catch { found.obstacle = "\(error)" }
        found.controlGroups = try? await ControlGroups.find()
        return found
    }

    /// How workspaces are layered on this machine.
    ///
    /// - Throws: Why they can't be.
    func layering(stepInit: String, in folder: String) async throws -> Layering {
        try await Layering.find(
            stepInit: stepInit, sandbox: sandbox,
            users: StepUsers(seed: "\(ProcessInfo.processInfo.processIdentifier)"), in: folder)
    }

    /// In words, for the greeting.
    var words: String? { sandbox?.program }
}

/// A user for the steps of one run that no other agent of this machine has; none unless the agent is root.
struct RunUser: Sendable {
    var user: StepUser?
    private var lock: FolderLock?

    init(in folder: AgentFolder) throws {
        let users = StepUsers(seed: "\(ProcessInfo.processInfo.processIdentifier)")
        for _ in 0..<1_000 {
            guard let candidate = try users.take() else { return }
            if let lock = FolderLock("\(folder.users)/\(candidate.user)", creates: true, isShared: false) {
                (user, self.lock) = (candidate, lock)
                return
            }
        }
        throw AgentProblem("all users for steps are in use on this machine; wait for runs to end")
    }
}
