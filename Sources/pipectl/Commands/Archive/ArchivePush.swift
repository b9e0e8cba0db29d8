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
        Terminal.say(
            try await state.ask(.pushArchive(remote: remote), "archive push") {
                if case .completed(let action) = $0 { action.inWords } else { nil }
            })
    }
}
