import ArgumentParser
import BuildBox

struct SecretsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets", abstract: "Keeps the secrets that steps name; never shows a value.",
        discussion: """
            A step that says .secrets("DEPLOY_TOKEN") is given it, in runs of merged code only. For one name, the first \
            of these counts: a secret set for the run's repository, systemd's credentials ($CREDENTIALS_DIRECTORY), one \
            set for all repositories, the keychain (macOS, service "pipectl").
            """,
        subcommands: [SecretsList.self, SecretsSet.self, SecretsRemove.self])
}

/// For which repository a secret is.
struct SecretScope: ParsableArguments {
    @Option(help: ArgumentHelp("For runs of this repository only, as `pipectl status` names it.", valueName: "name"))
    var repository: String?
}
