package import WorkflowPrograms
import Engine
package import Git
package import Results
package import Store

/// What a watcher asks of the daemon around it, and tells it.
package protocol WatchHost: Sendable {
    /// The compiled workflows.
    func programs() async throws -> ProgramCache
    /// Whether runs of a branch leave snapshots, so that a run is wanted where nothing else runs the workflow there.
    var makesSnapshots: Bool { get }
    /// Told when a look saw something new.
    func noteActivity()
    /// Told before runs are decided about, which start soon.
    func prepareForRuns() async
    /// Queues a run.
    func accept(_ request: RunRequest) async throws
    /// What merge queues have landed in a branch of late, or are about to: they know it, and need not recognise it.
    func queueLandings(of repository: String, branch: String) async throws -> [LandedChange]
    /// Carries out what the index decided when it recorded a look.
    func carryOut(_ superseded: [Supersession], _ toCancel: [Supersession]) async
}
