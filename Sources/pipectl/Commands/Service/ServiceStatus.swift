import ArgumentParser
import Client
import TerminalText

struct ServiceStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Says whether the service is installed, and whether it runs.",
        discussion: "Exits with 3 if it is not installed or does not run.")

    @OptionGroup var service: ServiceOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let status = try await service.installation(of: service.file(isNew: false)).status()
        if json {
            try JSONOutput.print(status)
        } else {
            let path = TerminalText.name(status.path)
            Terminal.print(
                !status.isInstalled
                    ? "not installed: \(path) is not there; `pipectl service install` writes it"
                    : "\(status.isRunning ? "runs" : "does not run"): \(path)"
                        + (status.isCurrent ? "" : ", which another version or other options wrote"))
        }
        if !status.isRunning { throw CommandEnd(code: 3, message: nil) }
    }
}
