import ArgumentParser
import Client
import Control
import Results

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
                    "not trusted: it failed in run \(step.run) although run \(step.provedBy) had proved it",
                ]))
        }
        if status.counts.isEmpty && status.distrusted.isEmpty { Terminal.say("no step is proved yet") }
    }
}
