import Engine
import MachinePool
import MachineProtocol
import Results
import Workspaces

/// A place on another machine that a run has.
struct ProvidedRemotePlace: ProvidedPlace {
    let machine: MachineClient
    let link: any AgentLink
    let steps: Int
    /// See ``MadeWorkspace/tools``.
    let tools: String
    let snapshots: SnapshotPart

    var place: any RunPlace { RemotePlace(machine: machine) }
    var workspaceView: String? { nil }
    var resumption: Resumption? { nil }
    var findings: [Finding] { [] }
    var delaysNextRun: Bool { false }

    var trace: PlaceTrace? {
        machine.trace.map { PlaceTrace(machine: machine.machine, agent: $0, workspace: snapshots.words, tools: tools) }
    }

    func close(hasPassed: Bool, isAllEnded: Bool) async -> any FinishedPlace {
        var finished = FinishedRemotePlace(
            machine: machine.machine, link: link, isAllEnded: isAllEnded, snapshots: snapshots)
        if hasPassed, isAllEnded, snapshots.leaves, !machine.isLost {
            // The verdict is recorded before the workspace is kept, so nobody waits for that.
            finished.client = machine
        } else {
            finished.lost = await machine.end(keepsLost: true)
            finished.trace = finished.lost == nil ? nil : trace
        }
        return finished
    }

    func abandon() async { await machine.end() }

    /// The run's share of the processors there.
    var elsewhere: OtherMachine? {
        let greeting = machine.greeting
        return OtherMachine(
            name: machine.machine, steps: max(steps, 1),
            traits: [greeting.platform, greeting.architecture, greeting.sandbox ?? "none", tools])
    }
}

/// What is left of a place on another machine: a workspace that may become a snapshot; a lasting agent, if its connection
/// was lost; or nothing, since the agent removes its files.
private struct FinishedRemotePlace: FinishedPlace {
    let machine: String?
    let link: any AgentLink
    let isAllEnded: Bool
    let snapshots: SnapshotPart
    var lost: String?
    var trace: PlaceTrace?
    /// The connection, as long as the workspace is there.
    var client: MachineClient?

    var base: Report.Base? { snapshots.base }
    var cold: String? { snapshots.cold }
    var resumed: RunID? { nil }

    func release(_ report: Report?) async {
        if let client {
            if let report, report.verdict == .passed { await snapshots.keep(client, report) }
            await client.end()
        }
        if let trace { await link.end(trace.agent) }
    }
}
