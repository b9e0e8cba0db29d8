import ArgumentParser
import Client
import Control
import Delivery

struct ReleaseFilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "Copies the files of a release, with its signatures and provenance, and checks each.")

    @OptionGroup var release: ReleaseOption
    @Option(
        help: ArgumentHelp(
            "A folder for the files; it is made. Files that are there are not replaced.", valueName: "path"))
    var output = "."

    func run() async throws {
        let detail = try await release.detail()
        if let warning = ReleaseText.warning(detail.release) { Terminal.say(warning) }
        for name in try ReleaseCopy(detail.release, in: detail.folder).copy(to: output) { Terminal.print(name) }
    }
}
