import ArgumentParser

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Shows and checks the settings of the daemon.",
        subcommands: [ConfigShow.self, ConfigCheck.self, ConfigTable.self])
}
