import ArgumentParser

struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Makes `pipectl watch` a service of systemd or launchd.",
        discussion: """
            The service watches the repositories of the settings file. On Linux it belongs to your own systemd, or with \
            --system to the machine's; on macOS it is an agent of launchd.
            """,
        subcommands: [ServiceInstall.self, ServiceUninstall.self, ServiceStatus.self])
}
