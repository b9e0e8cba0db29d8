package import Control
import MachineList
import Pipeline
package import StateFiles

/// The machines that run steps, as `pipectl machines` shows them.
package enum MachineTable {
    /// The machines, and what they do now if a daemon runs.
    ///
    /// - Throws: An error with the next step if their list can't be read.
    package static func machines(in folder: StateFolder) async throws -> [MachineUse] {
        let listed = try MachineList(folder).machines()
        do {
            let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: folder.socket)
            guard case .machines(let known) = try await client.ask(.machines) else {
                throw RequestError(
                    .usage, "the daemon did not say which machines it has; is it another version of pipectl?",
                    origin: .daemon)
            }
            return known
        } catch let error as DaemonError where error.code == .notRunning {
            return MachineUse.of(listed)
        }
    }

    /// A line for each machine.
    package static func text(_ machines: [MachineUse]) -> String {
        let rows = machines.map { machine in
            [
                machine.name, machine.address, machine.offers.joined(separator: " "), "\(machine.cpus)",
                ByteCount(bytes: machine.memory).description,
                machine.free.map { "\($0) of \(machine.slots) free" } ?? "\(machine.slots)",
                machine.runs.isEmpty ? "–" : machine.runs.map { "\($0)" }.joined(separator: " "),
                state(of: machine),
            ]
        }
        return TextTable.text(["NAME", "ADDRESS", "OFFERS", "CPUS", "MEMORY", "SLOTS", "RUNS", "STATE"], rows)
    }

    private static func state(of machine: MachineUse) -> String {
        guard let reason = machine.reason else { return "ready" }
        // It is used, as much as it can be.
        return machine.free == 0 && !machine.runs.isEmpty && machine.runs.count >= machine.slots
            ? "ready, \(reason)" : "not used: \(reason)"
    }
}
