package import Sandbox
package import Results
import Store
import Engine

/// The snapshot that a run begins from, and the one that it leaves.
package struct SnapshotChoice: Sendable {
    /// Nil: the run begins from nothing.
    var use: SnapshotUse?
    /// The snapshot that the run leaves when it passes; nil for none.
    var leaves: SnapshotKey?
    /// Why it begins from nothing; nil where it does not, or where no run of it could do otherwise.
    package var cold: String?

    static let none = SnapshotChoice()
}

/// A run's workspace after its last step, and what was given with it.
package struct FinishedWorkspace: Sendable {
    package var workspace: Workspace
    package var choice: SnapshotChoice
    var prepared: PreparedRun
    var hasPassed: Bool
    /// Whether nothing of the run lives: a process that does may write to the layers, and keeps those below.
    package var isAllEnded: Bool
    /// As whom the steps ran; nil where that was the daemon's own user.
    var user: StepUser?
    /// Where the workspace's Git finds its objects.
    package var objects: [String] = []
    /// The run whose workspace it went on with.
    package var resumed: RunID?
    /// What a fixer came to; nil in all other runs.
    package var fix: FixRecord?

    package init(
        workspace: Workspace, choice: SnapshotChoice, prepared: PreparedRun, hasPassed: Bool, isAllEnded: Bool,
        user: StepUser? = nil, objects: [String] = [], resumed: RunID? = nil, fix: FixRecord? = nil
    ) {
        self.workspace = workspace
        self.choice = choice
        self.prepared = prepared
        self.hasPassed = hasPassed
        self.isAllEnded = isAllEnded
        self.user = user
        self.objects = objects
        self.resumed = resumed
        self.fix = fix
    }

    package var base: Report.Base? { workspace.isOverBase ? choice.use?.reported : nil }
    /// Why it began from nothing, where that is known.
    package var cold: String? { workspace.isOverBase || resumed != nil ? nil : choice.cold }
}
