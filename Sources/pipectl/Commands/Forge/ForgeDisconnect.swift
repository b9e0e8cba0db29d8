import ForgeConnection
import StateFiles
import Client
import ArgumentParser
import Control
import Foundation
import Forges
import SystemPackage

struct ForgeDisconnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "disconnect",
        abstract: "Stops showing a repository's verdicts at its forge, and deletes the stored credential.")

    @OptionGroup var state: StateOptions
    @OptionGroup var place: RepositoryOption

    func run() async throws {
        let facts = try await state.ask(.repository(place.place), "forge disconnect") {
            if case .repository(let facts) = $0 { facts } else { nil }
        }
        _ = try await state.ask(.disconnectForge(facts.name), "forge disconnect") {
            if case .completed = $0 { true } else { nil }
        }
        ForgeCredentialStore(folder: FilePath(try state.folder().forges)).forget(facts.name)
        Terminal.say("\(facts.name) is disconnected; checks and comments that its forge has stay there")
    }
}
