import ArgumentParser
import Client
import MachineLinks
import MachineList
import MachinePool

struct MachinesRemove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes a machine, and forgets its host key.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The machine's name.") var name: String

    func run() throws {
        let list = try MachineList(state.folder())
        let (machine, isAddressUsed) = try list.remove(name)
        if case .ssh = machine.address, !isAddressUsed {
            try KnownHosts(list.knownHosts).remove(SSHAddress(machine.address.description))
        }
        Terminal.say("removed \(name)")
    }
}
