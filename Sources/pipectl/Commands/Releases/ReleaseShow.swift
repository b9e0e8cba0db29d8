import ArgumentParser
import Client
import Control
import Results

struct ReleaseShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a release: where it is, its files and its notes.")

    @OptionGroup var release: ReleaseOption
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let detail = try await release.detail()
        if json { return try JSONOutput.print(detail) }
        Terminal.put(ReleaseText.text(detail))
    }
}
