import ArgumentParser

struct MachinesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "machines", abstract: "Manages the list of other machines.",
        discussion: """
            A machine is reached by ssh, or through Slurm. Its host key is pinned when it is added, and no other key is \
            accepted afterwards. The daemon does not place runs on these machines yet.
            """,
        shouldDisplay: false,
        subcommands: [MachinesList.self, MachinesAdd.self, MachinesDrain.self, MachinesRemove.self],
        defaultSubcommand: MachinesList.self)
}
