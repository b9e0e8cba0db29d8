import ArgumentParser

struct ForgeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forge", abstract: "Shows verdicts at GitHub, GitLab, Gitea or Forgejo.",
        discussion: """
            Once a repository is connected, each run of a change or branch is shown at its commit: as a check if pipectl \
            is a GitHub App, otherwise as a commit status named pipectl/WORKFLOW. A change that fails gets one comment, which is \
            edited in place.
            """,
        subcommands: [ForgeConnect.self, ForgeStatusCommand.self, ForgeSignIn.self, ForgeDisconnect.self],
        defaultSubcommand: ForgeStatusCommand.self)
}
