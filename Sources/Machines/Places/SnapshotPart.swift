import Layers
import Concurrency
import Foundation
import MachineProtocol
import Results
import Sandbox
import Workspaces

/// What a run on another machine has to do with the snapshots there.
struct SnapshotPart: Sendable {
    /// What the agent is told; nil if the run has nothing to do with them.
    private(set) var order: SnapshotUseOrder?
    /// The snapshot that the workspace lies over.
    private(set) var base: Report.Base?
    /// Why the workspace is fresh.
    private(set) var cold: String?
    /// Whether the run leaves a snapshot if it passes.
    var leaves: Bool { order?.isKept ?? false }
    private let warmed: @Sendable (SnapshotLine, Bool) -> Void
    private var chosen: (snapshots: OtherSnapshots, run: PreparedRun, choice: OtherSnapshots.Choice)?

    init(warmed: @escaping @Sendable (SnapshotLine, Bool) -> Void) { self.warmed = warmed }

    /// Asks the machine what it has, and decides. A machine that has no answer has no snapshots either.
    ///
    /// - Parameter mirror: The repository's name there.
    mutating func choose(
        _ order: PlaceOrder, _ snapshots: OtherSnapshots?, mirror: String, on machine: MachineClient
    ) async {
        // A single step of a run leaves and needs only what it declares.
        guard order.part == 0, let snapshots, let line = snapshots.line(of: order.run) else { return }
        let place = SnapshotPlace(
            repository: mirror, line: String(BytesDigest.sha256(Array(line.name.utf8)).prefix(32)))
        let kept: KeptSnapshots
        do { kept = try await onOwnThread { try machine.ask(.snapshots(place)) } } catch { return }
        if kept.obstacle != nil { return }
        let told = kept.snapshots.prefix(100).filter { $0.bytes >= 0 && $0.layers >= 0 }.map {
            OtherSnapshots.Told(name: $0.name, note: $0.note, layers: $0.layers, bytes: $0.bytes)
        }
        let choice = await snapshots.choose(
            order.run, among: told, on: machine.machine, tools: kept.tools)
        chosen = (snapshots, order.run, choice)
        cold = choice.cold
        warmed(line, choice.name != nil)
        self.order = SnapshotUseOrder(
            place: place, name: choice.name, isKept: choice.leaves, unwanted: choice.unwanted)
    }

    mutating func take(_ made: MadeWorkspace) {
        guard let choice = chosen?.choice else { return }
        if made.isWarm {
            base = choice.base
        } else if choice.name != nil {
            chosen?.choice.startFresh()
            cold = "the warm workspace there could not be used: \((made.problem ?? "nobody knows why").prefix(300))"
        }
    }

    /// Has the workspace kept as a snapshot. If that fails, later runs only start slower.
    func keep(_ machine: MachineClient, _ report: Report) async {
        guard let (snapshots, run, choice) = chosen,
            let note = snapshots.note(run, choice, report.steps, on: machine.machine)
        else { return }
        let order = KeepOrder(note: note, results: run.plan.resultPatterns, limit: snapshots.limit)
        let result: Result<Int, any Error>
        do {
            let kept: KeptSnapshot = try await onOwnThread { try machine.ask(.keep(order)) }
            result = .success(kept.bytes)
        } catch {
            result = .failure((error as? MachineProblem)?.error ?? error)
        }
        snapshots.noteKept(note, of: run.run.id, on: machine.machine, result)
        if case .success = result, let line = snapshots.line(of: run) { warmed(line, true) }
    }
}
