import Workspaces
import Store
import Engine
import Results
/// Something that happened to a run.
enum DaemonEvent: Sendable {
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
struct RecordedRun: Sendable {
    let report: Report
    let request: RunRequest
    /// All attempts of all tests.
    var tests: [TestResult] = []
    let repository: WatchedRepository
    /// Whether its workflow wants the causes of new failures looked for.
    var bisectsWhenRed = false
    /// Whether it was ended because a run came that somebody waits for.
    var wasPreempted = false
    /// Background runs that would have made its report say more.
    var wantedRuns: [RunRequest] = []
}
