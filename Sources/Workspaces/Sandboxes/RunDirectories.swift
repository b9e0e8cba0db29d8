package import StateFiles
import Results
package import Store
import Engine
import Foundation
package import Sandbox
import Synchronization

/// The folders that a run has for itself, and with luck a sandbox that was started for them in advance.
package final class RunDirectories: Sendable {
    /// Logs, values, home and whatever else is not the workspace.
    package let folder: String
    package let workspace: String
    /// The folders of a workflow program that a sandbox made ready shows; empty where there is none.
    let program: [String]
    private let reserve: Mutex<Reserve?>

    /// What waits for a run.
    package struct Reserve: Sendable {
        var user: StepUser?
        var standby: StandbySandbox
        /// What will mount the workspace that the sandbox shows; nil for a plain folder.
        var holder: LayerHolder?
    }

    init(folder: String, workspace: String, program: [String] = [], reserve: Reserve? = nil) {
        self.folder = folder
        self.workspace = workspace
        self.program = program
        self.reserve = Mutex(reserve)
    }

    /// Folders that nobody has made yet.
    package convenience init(_ run: QueuedRun, in state: StateFolder) {
        let name = "\(run.id)-\(run.attempt)"
        self.init(folder: "\(state.live)/\(name)", workspace: "\(state.workspaces)/\(name)")
    }

    /// Whether ``workspace`` is there and shown in a sandbox: then it must be filled and not made anew.
    package var isOpen: Bool { reserve.withLock { $0 != nil } }

    /// The user and the sandbox that were set aside, once: from then on they are the run's to give back.
    func take() -> Reserve? { reserve.withLock { $0.take() } }

    /// Ends what was set aside and not taken; its user is free again when nothing of it lives. Blocks.
    package func close(_ users: StepUsers) {
        guard let reserve = take() else { return }
        if reserve.standby.discard() { users.giveBack(reserve.user) }
        reserve.holder?.close()
    }
}
