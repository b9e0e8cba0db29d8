import Secrets
import ArgumentParser
import Client
import StateFiles

struct SecretsRemove: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Removes a secret.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The secret's name.")
    var name: String
    @OptionGroup var scope: SecretScope

    func run() throws {
        try SecretStores(state: state.folder()).remove(name, repository: scope.repository)
        Terminal.say("removed \(name)" + (scope.repository.map { " for repository \($0)" } ?? ""))
    }
}
