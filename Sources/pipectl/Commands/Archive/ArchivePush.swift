import ArgumentParser
import Client
import Control
import Foundation
import Watching

struct ArchivePush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push", abstract: "Copies all runs to another Git repository.")
    @OptionGroup var state: StateOptions
    @Argument(help: "A URL or path of a bare repository.") var remote: String

    func run() async throws {
        let remote =
            WatchedRepository.isRemote(remote) ? remote : URL(fileURLWithPath: remote).standardizedFileURL.path
        try await state.act(.pushArchive(remote: remote), "archive push")
    }
}
