import Client
import ArgumentParser
import DaemonSettings
import Settings

struct ConfigCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks the settings file and the environment, as the daemon does at its start.",
        discussion: "Prints everything that is wrong, and exits with 2; changes nothing.")

    @OptionGroup var state: StateOptions
    @Option(
        help: ArgumentHelp(
            "The file with settings. Default: $PIPECTL_CONFIG, else config.json in the state folder.", valueName: "file"
        ))
    var config: String?

    func run() async throws {
        let settings = try DeclaredSettings.resolve(in: state.folder(), config: config, flags: [])
        _ = try settings.configuration(isDaemon: true)
        let count = settings.records.count { $0.source.kind != .standard }
        Terminal.print("the settings are correct; \(count) differ from the defaults or apply to one repository only")
    }
}

/// Prints the table of docs/settings.md, for developers who add a setting.
struct ConfigTable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "table", abstract: "Prints the table of docs/settings.md.", shouldDisplay: false)

    func run() async throws { Terminal.put(SettingsReference.markdown) }
}
