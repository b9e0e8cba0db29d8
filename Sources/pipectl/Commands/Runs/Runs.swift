public import ArgumentParser
import Client
import Control
import Foundation
public import Results

struct Runs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "runs", abstract: "Lists runs, newest first.")

    @OptionGroup var state: StateOptions
    @Option(help: "Only runs of this repository: its name, path or URL, or a clone of it.") var repository: String?
    @Option(help: "Only runs of this workflow.") var workflow: String?
    @Option(help: "Only runs of this change.") var change: String?
    @Option(help: "Only runs of this branch, or of changes into it.") var branch: String?
    @Option(help: "Only runs of commits whose id starts with this.") var commit: String?
    @Option(help: "Only runs with this verdict; may be repeated.") var verdict: [Verdict] = []
    @Option(name: .customLong("in"), help: "Only runs in this state: queued, running or ended; may be repeated.")
    var states: [RunState] = []
    @Option(help: "Only runs since then: 2d, 6h, or 2026-01-31.") var since: String?
    @Flag(help: "Hide runs that the daemon started by itself: warm-ups, clean builds, retries of failing tests.")
    var noBackground = false
    @Option(name: [.customShort("n"), .long], help: "Show at most N runs.") var limit = 20
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        var query = RunsQuery(
            repository: repository.map(RunSubject.repository), workflow: workflow, change: change, branch: branch,
            commit: commit, states: states, verdicts: verdict, since: try since.map(TimeOption.past),
            limit: limit)
        query.hidesBackground = noBackground ? true : nil
        let runs = try await state.ask(.runs(query), "runs") { if case .runs(let runs) = $0 { runs } else { nil } }
        if json { return try JSONOutput.print(runs) }
        if runs.isEmpty {
            Terminal.say("no runs; start one with `pipectl run WORKFLOW`, or let `pipectl watch` test changes")
        }
        Terminal.put(
            RunTable.text(
                runs, colour: Terminal.hasColour, width: Terminal.outputIsTerminal ? Terminal.width : nil))
    }
}

extension Verdict: ExpressibleByArgument {}
extension RunState: ExpressibleByArgument {}
