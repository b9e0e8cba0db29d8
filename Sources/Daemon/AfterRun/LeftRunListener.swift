import Layers
import MachinePool
import Preparing
import Results
import Running
import StateFiles

/// Ends what an earlier life of the daemon left of a run on another machine, if the run ended in the queue, cancelled or
/// superseded, before it was taken over.
struct LeftRunListener: RunListener {
    let state: StateFolder
    /// Ends what is left on the machine.
    let end: @Sendable (PlaceTrace) async -> Void
    let name = "left runs"
    let capacity = 1_000

    func wants(_ event: DaemonEvent) -> Bool { if case .unstarted = event { true } else { false } }

    func receive(_ event: DaemonEvent) async {
        guard case .unstarted(let report, _) = event,
            let (left, folder) = LeftRun.all(in: state).first(where: { $0.left.run == report.id })
        else { return }
        await end(left.trace)
        try? await Workspace.remove(folder)
    }

    /// Nobody speaks to their agents, so these end by themselves; the next start removes the folders.
    func missed(_ count: Int) async {}
}
