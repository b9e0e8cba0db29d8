import ArgumentParser
import BuildBox
import Foundation

struct SecretsSet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Sets a secret to what standard input says, or to what is typed, unseen.",
        discussion: """
            The value is kept as it is, line feeds included: `pipectl secrets set DEPLOY_KEY < key.pem`. It is never \
            taken from the command line, which others can see.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "Capitals, digits and _, like DEPLOY_TOKEN.")
    var name: String
    @OptionGroup var scope: SecretScope

    func run() throws {
        let stores = try SecretStores(state: state.folder())
        try stores.check(name, repository: scope.repository)
        let value = try HiddenInput.read(prompt: "Value of \(name): ", limit: SecretStores.longestValue + 1)
        try stores.set(name, to: value, repository: scope.repository)
        Terminal.say("\(name) is set" + (scope.repository.map { " for repository \($0)" } ?? ""))
    }
}
