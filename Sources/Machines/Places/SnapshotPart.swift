import Layers
import Concurrency
import Foundation
import MachinePool
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

    private struct Words: Codable {
        var base: Report.Base?
        var cold: String?
    }

    /// The part of a run that is taken over: it leaves no snapshot.
    init(of trace: PlaceTrace, warmed: @escaping @Sendable (SnapshotLine, Bool) -> Void) {
        self.init(warmed: warmed)
        let words = trace.workspace.flatMap { try? JSONDecoder().decode(Words.self, from: Data($0.utf8)) }
        (base, cold) = (words?.base, words?.cold)
    }

    /// What the workspace started from, for whoever takes the run over.
    var words: String? {
        guard base != nil || cold != nil else { return nil }
        return (try? JSONEncoder().encode(Words(base: base, cold: cold))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Asks the machine what it has, and decides. A machine that has no answer has no snapshots either.
    ///
    /// - Parameter mirror: The repository's name there.
    mutating func choose(
        _ order: PlaceOrder, _ snapshots: OtherSnapshots?, mirror: String, on machine: MachineClient, isOne: Bool
    ) async {
        // A single step of a run leaves and needs only what it declares.
        guard order.part == 0, let snapshots, let line = snapshots.line(of: order.run) else { return }
        let place = SnapshotPlace(
            repository: mirror, line: String(BytesDigest.sha256(Array(line.name.utf8)).prefix(32)))
        let kept: KeptSnapshots? = try? await onOwnThread { try machine.ask(.snapshots(place)) }
        guard let kept, kept.obstacle == nil else { return warmed(line, false) }
        let told = kept.snapshots.prefix(100).filter { $0.bytes >= 0 && $0.layers >= 0 }.map {
            OtherSnapshots.Told(name: $0.name, note: $0.note, layers: $0.layers, bytes: $0.bytes)
        }
        let choice = await snapshots.choose(
            order.run, among: told, on: machine.machine, tools: kept.tools, isOne: isOne)
        chosen = (snapshots, order.run, choice)
        cold = choice.cold
        warmed(line, choice.isWarm)
        self.order = SnapshotUseOrder(
            place: place, name: choice.name, isKept: choice.leaves, unwanted: choice.unwanted)
    }

    mutating func take(_ made: MadeWorkspace) {
        guard let choice = chosen?.choice else { return }
        if made.isWarm {
            base = choice.base
        } else if choice.name != nil {
            chosen?.choice.startFresh()
            // Without a problem, all files are other ones, because a .gitattributes is.
            cold = made.problem.map { "the warm workspace there could not be used: \($0.prefix(300))" }
        }
    }

    /// How long a machine may take to keep a workspace.
    private static let patience = Duration.seconds(300)

    /// Has the workspace kept as a snapshot. If that fails, later runs only start slower.
    func keep(_ machine: MachineClient, _ report: Report) async {
        guard let (snapshots, run, choice) = chosen,
            let note = snapshots.note(run, choice, report.steps, on: machine.machine)
        else { return }
        let order = KeepOrder(note: note, results: run.plan.resultPatterns, limit: snapshots.limit)
        let result: Result<Int, any Error>
        do {
            let kept: KeptSnapshot = try await machine.within(Self.patience, "did not keep a workspace") {
                try machine.ask(.keep(order))
            }
            result = .success(kept.bytes)
        } catch {
            result = .failure((error as? MachineProblem)?.error ?? error)
        }
        snapshots.noteKept(note, of: run.run.id, on: machine.machine, result)
        if case .success = result, let line = snapshots.line(of: run) { warmed(line, true) }
    }
}
