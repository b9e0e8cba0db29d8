import ArgumentParser
import Client
import MachineList
import MachinePool
import Pipeline
import StateFiles

struct MachinesList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the machines, what they offer, and why one is not used.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let machines = try MachineList(state.folder()).machines()
        let pool = MachinePool(machines)
        let shown = machines.map { Shown(machine: $0, reason: pool.reason(against: $0.name)) }
        if json { return try JSONOutput.print(shown) }
        guard !shown.isEmpty else {
            return Terminal.say("there are no other machines; `pipectl machines add ssh://user@host` adds one")
        }
        let rows = shown.map { row in
            [
                row.name, row.address, row.offers.joined(separator: " "), "\(row.cpus)",
                ByteCount(bytes: row.memory).description, "\(row.slots)",
                row.reason.map { "not used: \($0)" } ?? "ready",
            ].map { TerminalNames.clean($0) }
        }
        Terminal.print(TextTable.text(["NAME", "ADDRESS", "OFFERS", "CPUS", "MEMORY", "SLOTS", "STATE"], rows))
    }

    /// A machine in JSON.
    private struct Shown: Encodable {
        var name: String
        var address: String
        var offers: [String]
        var cpus: Int
        /// Bytes.
        var memory: Int
        var slots: Int
        /// Why it is not used; missing if it may be.
        var reason: String?

        init(machine: Machine, reason: String?) {
            name = machine.name
            address = machine.address.description
            offers = machine.traits.map(\.name)
            (cpus, memory, slots) = (machine.cpus, machine.memory, machine.slots)
            self.reason = reason
        }
    }
}
