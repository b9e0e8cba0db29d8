import ArgumentParser
import Client
import ProjectSetup
import TerminalText

struct ServiceStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Says whether the service is installed, and whether it runs.",
        discussion: "Exits with 3 if it is not installed or does not answer commands.")

    @OptionGroup var service: ServiceOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let file = try await service.file(isNew: false)
        let status = try await service.installation(of: file).status()
        if json {
            try JSONOutput.print(status)
        } else {
            let path = TerminalText.name(status.path)
            Terminal.print(
                !status.isInstalled
                    ? "not installed: \(path) is not there; `pipectl service install` writes it"
                    : "\(status.activity.inWords): \(path)"
                        + (status.isCurrent ? "" : ", which another version or other options wrote"))
            if [.failed, .waiting].contains(status.activity) {
                Terminal.print(TerminalText.name(status.reason ?? "`\(file.manager.logCommand)` says why"))
            }
        }
        if status.activity != .running { throw CommandEnd(code: 3, message: nil) }
    }
}
