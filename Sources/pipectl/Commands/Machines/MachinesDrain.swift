import ArgumentParser
import Client
import MachineList
import MachinePool

struct MachinesDrain: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Lets no further runs start on a machine.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The machine's name.") var name: String
    @Flag(help: "Lets runs start on it again.") var end = false

    func run() throws {
        try MachineList(state.folder()).set(end ? .ready : .draining, of: name)
        Terminal.say(end ? "runs may start on \(name) again" : "no further runs start on \(name)")
    }
}
