import ArgumentParser

struct AgentsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agents", abstract: "Sets up coding agents to use pipectl.",
        subcommands: [AgentsInstall.self])
}
