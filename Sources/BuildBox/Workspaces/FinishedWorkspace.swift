import Results
import Store
import Sandbox

/// The snapshot that a run begins from, and the one that it leaves.
struct SnapshotChoice: Sendable {
    /// Nil: the run begins from nothing.
    var use: BaseUse?
    /// The snapshot that the run leaves when it passes; nil for none.
    var leaves: BaseKey?
    /// Why it begins from nothing; nil where it does not, or where no run of it could do otherwise.
    var cold: String?

    static let none = SnapshotChoice()
}

/// A run's workspace after its last step, and what was given with it.
struct FinishedWorkspace: Sendable {
    var workspace: Workspace
    var choice: SnapshotChoice
    var prepared: RunPreparation
    var hasPassed: Bool
    /// Whether nothing of the run lives: a process that does may write to the layers, and keeps those below.
    var isAllEnded: Bool
    /// As whom the steps ran; nil where that was the daemon's own user.
    var user: StepUser?
    /// Where the workspace's Git finds its objects.
    var objects: [String] = []
    /// The run whose workspace it went on with.
    var resumed: RunID?
    /// What a fixer came to; nil in all other runs.
    var fix: FixRecord?

    var base: Report.Base? { workspace.isOverBase ? choice.use?.reported : nil }
    /// Why it began from nothing, where that is known.
    var cold: String? { workspace.isOverBase || resumed != nil ? nil : choice.cold }
}
