import ArgumentParser

struct ServiceUninstall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uninstall", abstract: "Stops the service and removes its file; the state folder stays.",
        discussion: "Runs that go on end first, for up to 15 minutes.")

    @OptionGroup var service: ServiceOptions

    func run() async throws {
        try await service.installation(of: service.file(isNew: false)).uninstall()
    }
}
