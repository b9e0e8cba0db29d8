package import WorkflowPrograms
import Engine
package import LandedChanges
package import Results

/// The part of the daemon that a watcher uses.
package protocol WatchHost: Sendable {
    /// The compiled workflows.
    func programs() async throws -> ProgramCache
    /// Whether runs of a branch leave snapshots, so that a run is wanted if no other runs the workflow there.
    var makesSnapshots: Bool { get }
    /// Called when an observation found something new.
    func noteActivity()
    /// Called before a decision about runs that will start soon.
    func prepareForRuns() async
    /// Has a connected forge asked about changes whose heads are new, by their names; returns soon, whether it answers or
    /// not.
    func learnChanges(_ heads: [String: String], of repository: String) async
    /// Queues a run.
    func accept(_ request: RunRequest) async throws
    /// The changes that merge queues have landed in a branch recently or are about to land. These need no recognition.
    func queueLandings(of repository: String, branch: String) async throws -> [LandedChange]
    /// Applies the supersessions that the index decided when it recorded an observation.
    func carryOut(_ superseded: [Supersession], _ toCancel: [Supersession]) async
}
