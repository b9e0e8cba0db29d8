package import StateFiles
package import Results
import Engine
import Foundation
package import Sandbox
import Synchronization

/// The directories of one run, and possibly a sandbox that was started for them in advance.
package final class RunDirectories: Sendable {
    /// Everything but the workspace: logs, values, home.
    package let folder: String
    /// The workspace's path on the machine.
    package let workspace: String
    /// The folders of the workflow program that the waiting sandbox shows; empty if there is none.
    let program: [String]
    private let reserve: Mutex<Reserve?>

    /// A sandbox that waits for a run.
    package struct Reserve: Sendable {
        var user: StepUser?
        var standby: StandbySandbox
        /// Mounts the workspace that the sandbox shows; nil for a plain folder.
        var holder: OverlayMount?
    }

    init(folder: String, workspace: String, program: [String] = [], reserve: Reserve? = nil) {
        self.folder = folder
        self.workspace = workspace
        self.program = program
        self.reserve = Mutex(reserve)
    }

    /// Directories that do not exist yet, but for the folder that an earlier life of the daemon may have left.
    package convenience init(_ run: QueuedRun, in state: StateFolder, left folder: String? = nil) {
        let name = "\(run.id)-\(run.attempt)"
        self.init(folder: folder ?? "\(state.live)/\(name)", workspace: "\(state.workspaces)/\(name)")
    }

    /// Whether ``workspace`` exists and a sandbox shows it. Then it must be filled, not made anew.
    package var isOpen: Bool { reserve.withLock { $0 != nil } }

    /// Returns the user and the sandbox once; the caller has to give them back.
    func take() -> Reserve? { reserve.withLock { $0.take() } }

    /// Ends the sandbox if nobody took it. Its user is free again if no process of it lives. Blocks.
    package func close(_ users: StepUsers) {
        guard let reserve = take() else { return }
        if reserve.standby.discard() { users.giveBack(reserve.user) }
        reserve.holder?.close()
    }
}
