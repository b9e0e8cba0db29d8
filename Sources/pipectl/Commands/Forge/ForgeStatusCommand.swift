import StateFiles
import Client
import Control
import ArgumentParser

struct ForgeStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Lists connections to forges, whether they answer, and what is not delivered yet.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Do not contact the forges.") var offline = false
    @Flag(help: "Prints JSON.") var json = false

    func run() async throws {
        let all = try await state.ask(.forges, "forge status") {
            if case .forges(let all) = $0 { all } else { nil }
        }
        let lines = await ForgeHealth.all(all, credentials: try state.folder().forges, asksForges: !offline)
        if json { return try JSONOutput.print(lines) }
        if lines.isEmpty { return Terminal.say("no repository is connected; pipectl forge connect URL connects one") }
        for line in lines { Terminal.print(line.text) }
        if lines.contains(where: { $0.problem != nil }) { throw CommandEnd(code: 3, message: nil) }
    }
}
