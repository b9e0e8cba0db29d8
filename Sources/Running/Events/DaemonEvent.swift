package import Watching
package import Workspaces
import Store
package import Engine
package import Results
/// Something that happened to a run.
package enum DaemonEvent: Sendable {
    /// A step went on, in the order in which the engine saw it.
    case step(RunID, RunEvent)
    /// A run found no snapshot to begin from, or left none.
    case snapshotMissed(MissedSnapshot)
    /// The verdict and its report are durable.
    case recorded(RecordedRun)
    /// Nothing of the run goes on, whether it has a verdict or was put back to wait for approval.
    case ended(RunID)
}

/// A run with a durable verdict, as listeners see it.
package struct RecordedRun: Sendable {
    package let report: Report
    package let request: RunRequest
    /// All attempts of all tests.
    package var tests: [TestResult] = []
    package let repository: WatchedRepository
    /// Whether its workflow wants the causes of new failures looked for.
    package var bisectsWhenRed = false
    /// Whether it was ended because a run came that somebody waits for.
    package var wasPreempted = false
    /// Background runs that would have made its report say more.
    package var wantedRuns: [RunRequest] = []
}
