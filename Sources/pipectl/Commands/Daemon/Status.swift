import ArgumentParser
import Client
import Control
import Foundation
import Results
import StateFiles
import TerminalText

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Shows watched repositories, and running, waiting and queued runs.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Also list repositories that are not watched: folders where runs were started by hand.")
    var all = false
    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let path = try state.folder().socket
        let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: path)
        guard case .status(let status) = try await client.ask(.status) else {
            throw CommandEnd(code: 3, message: "the daemon did not report its status")
        }
        if json { return try JSONOutput.print(status) }
        Terminal.print(
            "pipectl \(status.version), process \(status.processID), \(status.slots) slots, state in \(status.state)")
        if let pages = status.pages { Terminal.print("pages    \(TerminalText.name(pages))") }
        for repository in status.repositories where all || repository.isWatched {
            let target = repository.target.map { "  into \(TerminalText.name($0))" } ?? ""
            let changes = repository.changes.sorted { $0.key < $1.key }.map { state, count in
                "\(count) \(state)" + (state == "stale" ? " (tested with an older target)" : "")
            }.joined(separator: ", ")
            Terminal.print(
                "  \(repository.name)  \(repository.location)\(repository.isWatched ? "" : "  (not watched)")\(target)\(changes.isEmpty ? "" : "  changes: \(changes)")"
            )
            if let advice = repository.advice {
                Terminal.print("    decide: \(TerminalText.name(advice, limit: 1_000))")
            }
        }
        for run in status.running {
            let done = run.steps.count { $0.record.status.isFinal }
            let isRunning = run.steps.isEmpty || run.steps.contains { $0.record.status == .running }
            let elapsed = Figures.duration(Date().timeIntervalSince(run.startedAt).rounded())
            Terminal.print(
                "\(isRunning ? "running" : "waiting")  \(run.id)  \(run.workflow)  \(TerminalText.name(run.subject))  \(done) of \(run.steps.count) steps, \(elapsed)\(run.machine.map { " on \(TerminalText.name($0))" } ?? "")\(run.waitsFor.map { ": \(TerminalText.name($0, limit: 1_000))" } ?? "")"
            )
        }
        for run in status.running {
            for step in run.steps where step.awaitsApproval {
                Terminal.print(
                    "waits    \(run.id)  \(run.workflow)  \(TerminalText.name("\"\(step.record.name)\" needs approval: \(Approval.command(run.id, step: step.record.name))", limit: 400))"
                )
            }
        }
        for run in status.held {
            let subject = TerminalText.name(run.change.map { "change \($0)" } ?? RunTable.subject(run))
            Terminal.print(
                "waits    \(run.id)  \(run.workflow)  \(subject) needs approval: \(Approval.command(run.id))")
            Terminal.print("         \(TerminalText.name(run.heldFor ?? "", limit: 400))")
        }
        for run in status.queued {
            Terminal.print(
                "queued   \(run.id)  \(run.workflow)  \(TerminalText.name(RunTable.subject(run)))\(status.waits?.first { $0.run == run.id }.map { ": \(TerminalText.name($0.reason, limit: 400))" } ?? "")"
            )
        }
        if status.running.isEmpty && status.queued.isEmpty && status.held.isEmpty { Terminal.print("idle") }
        if let obstacle = status.obstacle { Terminal.print("nothing starts: \(obstacle)") }
    }
}
