import StateFiles
import Control
import ArgumentParser
import Results
import BuildBox
import Foundation

struct ProofsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proofs", abstract: "Lists proved steps, and trusts a step's proofs again after a wrong one.",
        subcommands: [ProofsList.self, ProofsTrust.self], defaultSubcommand: ProofsList.self)
}

struct ProofsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists steps with proofs, and steps whose proofs are not trusted.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let status = try await state.ask(.proofs, "proofs") { if case .proofs(let status) = $0 { status } else { nil } }
        if json { return try JSONOutput.print(status) }
        for count in status.counts {
            Terminal.print(
                TerminalNames.row([
                    count.repository, count.workflow, count.step, "\(count.merged) merged",
                    "\(count.own) from changes", "newest: run \(count.newest)",
                ]))
        }
        for step in status.distrusted {
            Terminal.print(
                TerminalNames.row([
                    step.repository, step.workflow, step.step,
                    "not trusted: failed in run \(step.run) although run \(step.provedBy) had proved it",
                ]))
        }
        if status.counts.isEmpty && status.distrusted.isEmpty { Terminal.say("no step is proved yet") }
    }
}

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
