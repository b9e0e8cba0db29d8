import ArgumentParser
import Client
import Foundation
import MachineLinks
import MachineList
import MachinePool
import Pipeline
import Settings
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
            The fingerprint of its key is shown, and you are asked whether it is the machine's own: `ssh-keygen -lf \
            /etc/ssh/ssh_host_ed25519_key.pub` prints it there. A script gives it with --fingerprint.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "ssh://user@host, ssh://user@host:port, slurm, or slurm://PARTITION.")
    var address: String
    @Option(help: "Its name. Default: the first part of the host's.")
    var name: String?
    @Option(help: ArgumentHelp("What it offers beyond its system and processor; repeatable.", valueName: "label"))
    var label: [String] = []
    @Option(help: "How many runs it may have at a time.")
    var slots = 1
    @Option(help: "Processors that runs may use. Default: all of them; needed for Slurm.")
    var cpus: Int?
    @Option(
        help: ArgumentHelp("Memory that runs may use. Default: all of it; needed for Slurm.", valueName: "size"),
        transform: { text in
            do throws(QuantityProblem) { return try SizeText.read(text, bare: .mebibytes) } catch {
                throw ValidationError(error.description)
            }
        })
    var memory: Int?
    @Option(help: ArgumentHelp("The fingerprint of its host key, SHA256:….", valueName: "text"))
    var fingerprint: String?

    func run() async throws {
        guard let place = MachineAddress(address) else {
            throw CommandEnd(
                code: 2, message: "\"\(address)\" is no address of a machine; write ssh://user@host, or slurm")
        }
        let labels = label.map { MachineTrait.label($0) }
        if let taken = labels.first(where: { $0.isMeasured }) {
            throw CommandEnd(code: 2, message: "\(taken.name) is found out from the machine; leave that --label out")
        }
        let folder = try state.folder()
        do throws(StateError) { try folder.create() } catch { throw CommandEnd(code: 3, message: error.message) }
        let list = MachineList(folder)
        var machine = Machine(
            name: name ?? place.usualName, address: place, traits: labels, cpus: cpus ?? 1, memory: memory ?? 1 << 30,
            slots: slots)
        // What a person wrote is checked before anything is connected.
        if let problem = MachineList.problem(of: machine) { throw CommandEnd(code: 2, message: problem) }
        switch place {
        case .slurm:
            guard cpus != nil, memory != nil else {
                throw CommandEnd(
                    code: 2, message: "--cpus and --memory are missing; they say how large the largest allocation is")
            }
            machine.traits = MachineNeeds(traits: labels + [.linux]).traits
        case .ssh:
            let found = try await look(NewMachine(list, SSHAddress(address), environment: environment), folder)
            machine.traits = MachineNeeds(traits: labels + found.traits).traits
            (machine.cpus, machine.memory) = (cpus ?? found.cpus, memory ?? found.memory)
        }
        try list.add(machine)
        Terminal.say("added \(machine.name)")
    }

    private var environment: [String: String] { ProcessInfo.processInfo.environment }

    private func look(
        _ new: NewMachine, _ folder: StateFolder
    ) async throws -> (traits: [MachineTrait], cpus: Int, memory: Int) {
        let key = try accepted(await new.keys())
        let stepInit = try Installation.stepInit()
        let agent = URL(fileURLWithPath: stepInit).deletingLastPathComponent().appendingPathComponent("pipectl-agent")
        return try await new.look(
            accepting: key, agent: agent.path, stepInit: stepInit, sockets: folder.path + "/ssh")
    }

    /// The key that is the machine's own, as a person or `--fingerprint` says.
    private func accepted(_ keys: [HostKey]) throws -> HostKey {
        let shown = keys.map { "  \($0.fingerprint) (\($0.kind))" }.joined(separator: "\n")
        if let fingerprint {
            guard let key = keys.first(where: { $0.fingerprint == fingerprint }) else {
                throw CommandEnd(
                    code: 3,
                    message: "the machine shows other keys, so it may not be the one that you mean:\n\(shown)")
            }
            return key
        }
        // Newer ssh servers all have this kind.
        guard let key = keys.first(where: { $0.kind == "ssh-ed25519" }) ?? keys.first else {
            throw CommandEnd(code: 3, message: "the machine shows no host key")
        }
        guard isatty(0) == 1 else {
            throw CommandEnd(
                code: 2,
                message: "give the fingerprint of the machine's key with --fingerprint; it shows these:\n\(shown)")
        }
        Terminal.write("The machine's key is \(key.fingerprint) (\(key.kind)). Is that its own? [y/N] ", to: 2)
        guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
            throw CommandEnd(code: 130, message: "nothing was changed")
        }
        return key
    }
}
