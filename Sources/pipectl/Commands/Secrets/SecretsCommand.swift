import ArgumentParser

struct SecretsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secrets", abstract: "Manages secrets for steps; values are never shown.",
        discussion: """
            A step that declares .secrets("DEPLOY_TOKEN") gets it, in runs of merged code only. If several have the same name, the first \
            of these is used: a secret set for the run's repository, a systemd credential ($CREDENTIALS_DIRECTORY), one \
            set for all repositories, the keychain (macOS, service "pipectl").
            """,
        subcommands: [SecretsList.self, SecretsSet.self, SecretsRemove.self])
}

/// Limits a secret to one repository.
struct SecretScope: ParsableArguments {
    @Option(help: ArgumentHelp("Only for runs of this repository, by its name in `pipectl status`.", valueName: "name"))
    var repository: String?
}
