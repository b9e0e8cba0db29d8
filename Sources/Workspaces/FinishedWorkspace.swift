package import Layers
package import Sandbox
package import Results
import Store
import Engine

/// The snapshot that a run starts from, and the one that it leaves.
package struct SnapshotChoice: Sendable {
    /// Nil: the run starts in a fresh workspace.
    var use: SnapshotUse?
    /// The snapshot that the run leaves when it passes; nil for none.
    var leaves: SnapshotKey?
    /// Why it starts fresh; nil if it does not, or if no run of the workflow could start warm.
    package var cold: String?

    static let none = SnapshotChoice()
}

/// A run's workspace after its last step.
package struct FinishedWorkspace: Sendable {
    /// The workspace that the run leaves.
    package var workspace: Workspace
    /// The snapshot that was chosen for it, or why none was.
    package var choice: SnapshotChoice
    var prepared: PreparedRun
    var hasPassed: Bool
    /// Whether all processes of the run have ended. One that lives may still write to the layers.
    package var isAllEnded: Bool
    /// The user that the steps ran as; nil for the daemon's own.
    var user: StepUser?
    /// The folders in which the workspace's Git finds its objects.
    package var objects: [String] = []
    /// The run whose retained workspace it started from.
    package var resumed: RunID?

    package init(
        workspace: Workspace, choice: SnapshotChoice, prepared: PreparedRun, hasPassed: Bool, isAllEnded: Bool,
        user: StepUser? = nil, objects: [String] = [], resumed: RunID? = nil
    ) {
        self.workspace = workspace
        self.choice = choice
        self.prepared = prepared
        self.hasPassed = hasPassed
        self.isAllEnded = isAllEnded
        self.user = user
        self.objects = objects
        self.resumed = resumed
    }

    /// The snapshot for the report; nil if the workspace was not over one.
    package var base: Report.Base? { workspace.isOverBase ? choice.use?.reported : nil }
    /// Why it started fresh, if that is known.
    package var cold: String? { workspace.isOverBase || resumed != nil ? nil : choice.cold }
}
