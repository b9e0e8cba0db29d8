import ArgumentParser
import Client

struct MachinesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the machines: what they offer and run, and why one is not used.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let machines = try await MachineTable.machines(in: state.folder())
        if json { return try JSONOutput.print(machines) }
        guard !machines.isEmpty else {
            return Terminal.say("there are no other machines; `pipectl machines add ssh://user@host` adds one")
        }
        Terminal.print(MachineTable.text(machines))
    }
}
