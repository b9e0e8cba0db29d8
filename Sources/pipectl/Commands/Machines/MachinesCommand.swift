import ArgumentParser

struct MachinesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "machines", abstract: "Manages the list of other machines.",
        discussion: """
            A machine is reached by ssh, or through Slurm. Its host key is pinned when it is added, and no other key is \
            accepted afterwards. A run goes to the daemon's machine, or to another one if that is full or lacks what the \
            steps ask for.
            """,
        subcommands: [MachinesList.self, MachinesAdd.self, MachinesDrain.self, MachinesRemove.self],
        defaultSubcommand: MachinesList.self)
}
