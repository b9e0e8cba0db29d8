import Secrets
import ArgumentParser
import Client
import Control
import Foundation
import StateFiles

struct SecretsSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Sets a secret from standard input; on a terminal, typing is hidden.",
        discussion: """
            The value is stored unchanged, line feeds included: `pipectl secrets set DEPLOY_KEY < key.pem`. It is never \
            taken from the command line, because other users can see that.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The secret's name: capitals, digits and _, like DEPLOY_TOKEN.")
    var name: String
    @OptionGroup var scope: SecretScope

    func run() async throws {
        let stores = try SecretStores(state: state.folder())
        try stores.check(name, repository: scope.repository)
        let value = try HiddenInput.read(prompt: "Value of \(name): ", limit: SecretStores.longestValue + 1)
        try stores.set(name, to: value, repository: scope.repository)
        Terminal.say("set \(name)" + (scope.repository.map { " for repository \($0)" } ?? ""))
        // The repository may be watched later, so this is no error; nor is a state that can't be asked.
        guard let repository = scope.repository,
            let known = try? await state.ask(.status, "secrets set", { $0.repositoryNames }),
            let warning = SecretScopeText.warning(repository, known: known)
        else { return }
        Terminal.say("pipectl: \(TerminalNames.clean(warning))")
    }
}
