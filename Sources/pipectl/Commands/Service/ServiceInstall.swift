import ArgumentParser
import Client

struct ServiceInstall: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Writes the service's file, and starts the service now and at each boot.",
        discussion: """
            Running it again changes nothing, unless pipectl or the compiler have moved. A service whose file changes starts \
            again when the runs that go on have ended.
            """)

    @OptionGroup var service: ServiceOptions
    @Flag(help: "Print the file, and do nothing else.") var print = false

    func run() async throws {
        let file = try await service.file(isNew: true)
        if print { return Terminal.put(file.text) }
        try await service.installation(of: file).install()
    }
}
