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

struct MachinesRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes a machine, and forgets its host key.")
    @OptionGroup var state: StateOptions
    @Argument(help: "The machine's name.") var name: String

    func run() throws {
        try NewMachine.forget(name, in: MachineList(state.folder()))
        Terminal.say("removed \(name)")
    }
}
