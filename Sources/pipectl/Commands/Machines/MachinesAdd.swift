import ArgumentParser
import Client
import Foundation
import MachineLinks
import MachineList
import MachinePool
import Pipeline
import StateFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

struct MachinesAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds a machine, and pins its host key.",
        discussion: """
            The fingerprint of its key is shown, and you are asked whether it is the machine's own: `cat \
            /etc/ssh/ssh_host_*_key.pub | ssh-keygen -lf -` prints its keys there. A script gives it with --fingerprint.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "ssh://user@host, ssh://user@host:port, slurm, or slurm://PARTITION.")
    var address: String
    @Option(help: "Its name. Default: the first part of the host's.")
    var name: String?
    @Option(help: ArgumentHelp("What it offers beyond its system and processor; repeatable.", valueName: "label"))
    var label: [String] = []
    @Option(help: "How many runs it may have at a time; of Slurm, allocations.")
    var slots = 1
    @Option(help: "Processors that runs may use. Default: all. For Slurm, of the largest run.")
    var cpus: Int?
    @Option(
        help: ArgumentHelp("Memory that runs may use. Default: all. For Slurm, of the largest run.", valueName: "size"),
        transform: SizeOption.mebibytes)
    var memory: Int?
    @Option(
        help: ArgumentHelp(
            "A folder there that other machines have, too: commits and outputs are sent for all of them once.",
            valueName: "path"))
    var shared: String?
    @Option(help: ArgumentHelp("The fingerprint of its host key, SHA256:….", valueName: "text"))
    var fingerprint: String?

    func run() async throws {
        let wish = MachineWish(
            address, name: name, labels: label, slots: slots, cpus: cpus, memory: memory, shared: shared)
        var machine: Machine
        do throws(MachineListError) { machine = try wish.machine() } catch {
            throw CommandEnd(code: 2, message: error.description)
        }
        let folder = try state.folder()
        try folder.create()
        let list = MachineList(folder)
        if case .ssh(let address) = machine.address {
            let new = NewMachine(list, address, environment: ProcessInfo.processInfo.environment)
            machine = try wish.machine(offering: await look(new, folder))
        }
        let processor = try await ClusterProcessor.of(machine, ProcessInfo.processInfo.environment)
        if let processor { machine = machine.with(processor) }
        try list.add(machine)
        Terminal.say("added \(machine.name)" + (processor?.caution.map { ", but \($0)" } ?? ""))
    }

    private func look(
        _ new: NewMachine, _ folder: StateFolder
    ) async throws -> (traits: [MachineTrait], cpus: Int, memory: Int) {
        let key = try NewMachine.key(of: await new.keys(), fingerprint)
        if fingerprint == nil {
            guard isatty(0) == 1 else {
                throw CommandEnd(code: 2, message: "is its key \(key.fingerprint)? Say so with --fingerprint")
            }
            Terminal.write("Its key is \(key.fingerprint) (\(key.kind)). Is that the machine's own? [y/N] ", to: 2)
            guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
                throw CommandEnd(code: 130, message: "nothing was changed")
            }
        }
        return try await new.look(
            accepting: key, agent: Installation.agent(), stepInit: Installation.stepInit(),
            sockets: folder.path + "/ssh")
    }
}
