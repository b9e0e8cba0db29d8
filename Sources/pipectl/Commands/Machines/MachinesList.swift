import ArgumentParser
import Client
import MachineList

struct MachinesList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the machines, what they offer, and why one is not used.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    func run() throws {
        let rows = MachineRow.rows(of: try MachineList(state.folder()).machines())
        if json { return try JSONOutput.print(rows) }
        guard !rows.isEmpty else {
            return Terminal.say("there are no other machines; `pipectl machines add ssh://user@host` adds one")
        }
        Terminal.print(TextTable.text(MachineRow.titles, rows.map { $0.cells.map { TerminalNames.clean($0) } }))
    }
}
