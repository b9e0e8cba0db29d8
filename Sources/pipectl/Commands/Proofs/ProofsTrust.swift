import ArgumentParser
import Client
import Control

struct ProofsTrust: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trust", abstract: "Trusts the proofs of a step again, starting with its next run.",
        discussion:
            "Removed proofs do not come back. A step whose declaration has changed is trusted without this command.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The step's name.") var step: String
    @Option(help: "Only in the repository with this name.") var repository: String?

    func run() async throws {
        try await state.act(.trustProofs(step: step, repository: repository), "proofs trust")
    }
}
