package import Watching
package import Workspaces
import Store
package import Engine
package import Results
/// Something that happened to a run.
package enum DaemonEvent: Sendable {
    /// A step's progress, in the engine's order.
    case step(RunID, RunEvent)
    /// A run found no snapshot to start from, or left none.
    case snapshotMissed(MissedSnapshot)
    /// The verdict and its report are durable.
    case recorded(RecordedRun)
    /// A run has a durable report although it was not taken to a verdict: it was superseded or cancelled in the queue, or
    /// could not be started.
    case unstarted(Report, RunRequest)
    /// The run is no longer live: it has a verdict, or it was put back to wait for approval.
    case ended(RunID)
}

/// A run with a durable verdict, as listeners see it.
package struct RecordedRun: Sendable {
    package let report: Report
    package let request: RunRequest
    /// All tests with all attempts.
    package var tests: [TestResult] = []
    package let repository: WatchedRepository
    /// Whether its workflow wants failures of the branch bisected.
    package var bisectsWhenRed = false
    /// Whether a requested run preempted it.
    package var wasPreempted = false
    /// Background runs that would have given its report more facts.
    package var wantedRuns: [RunRequest] = []
}
