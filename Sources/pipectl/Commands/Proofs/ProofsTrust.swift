import ArgumentParser
import Client
import Control

struct ProofsTrust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Trusts the proofs of a step again, starting with its next run.",
        discussion: "Earlier proofs stay removed. A step whose declaration changed is trusted again without this.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The step's name.") var step: String
    @Option(help: "Only of the repository with this name.") var repository: String?

    func run() async throws {
        Terminal.say(
            try await state.ask(.trustProofs(step: step, repository: repository), "proofs trust") {
                if case .completed(let action) = $0 { action.inWords } else { nil }
            })
    }
}
