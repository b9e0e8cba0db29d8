import Landing
import Watching
import Running
import Forges
import WorkflowPrograms
import Engine
import Git
import LandedChanges
import Results
import Store

/// The daemon as its watchers see it.
struct DaemonWatchHost: WatchHost {
    let tools: BuildTools
    let health: Health
    let queue: RunQueue
    let fixes: FixCoordinator
    let background: BackgroundWork
    let queues: MergeQueues
    let forges: ForgeReceivers

    func programs() async throws -> ProgramCache { try await tools.programs() }
    var makesSnapshots: Bool { background.settings.makesSnapshots }
    func noteActivity() { health.noteActivity() }
    func prepareForRuns() async { await tools.lookAtSettings() }
    func learnChanges(_ heads: [String: String], of repository: String) async {
        await forges.learn(heads, of: repository)
    }
    func accept(_ request: RunRequest) async throws { try await finish(queue.accept(request).superseded) }

    func queueLandings(of repository: String, branch: String) async throws -> [LandedChange] {
        try await queues.landings(of: repository, branch: branch)
    }

    func carryOut(_ superseded: [Supersession], _ toCancel: [Supersession]) async {
        await queue.carryOut(superseded, toCancel)
        await finish(superseded)
    }

    /// A superseded run may have been part of a fix.
    private func finish(_ superseded: [Supersession]) async {
        if !superseded.isEmpty { await fixes.settle() }
    }
}
