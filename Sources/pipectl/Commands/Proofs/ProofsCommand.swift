import ArgumentParser

struct ProofsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proofs", abstract: "Lists proved steps, and trusts a step's proofs again after a wrong one.",
        subcommands: [ProofsList.self, ProofsTrust.self], defaultSubcommand: ProofsList.self)
}
