import ArgumentParser
import Client
import Foundation
import ProjectSetup

struct AgentsInstall: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Writes the MCP configuration and a short instruction for coding agents into a repository.",
        discussion: """
            Shows the changes and asks before it writes. It leaves files alone that it can't read, and everything in a file \
            that is not about pipectl. Running it again changes nothing.
            """)

    @Option(help: "The repository.") var folder = "."
    @Option(
        name: .customLong("host"),
        help: ArgumentHelp(
            "Set up only this agent: claude, cursor, vscode, codex, gemini, skills or agents (AGENTS.md); may be repeated.",
            valueName: "host"))
    var hosts: [AgentHost] = []
    @Option(help: "The command with which agents start pipectl.") var command = "pipectl"
    @Flag(help: "Write without asking.") var yes = false

    func validate() throws {
        if command.isEmpty || command.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) {
            throw ValidationError("--command takes a path or a name")
        }
    }

    func run() throws {
        let top = try RunSubject.top(of: folder)
        let plan = AgentInstallation(hosts.isEmpty ? AgentHost.allCases : hosts, command: command, top: top)
        for path in plan.upToDate { Terminal.say("\(path) is up to date") }
        for change in plan.changes { Terminal.put(LineDifference.text(change.path, from: change.old, to: change.new)) }
        for (path, why) in plan.skipped { Terminal.say("\(path) is left alone: \(why)") }
        try write(plan)
        guard plan.skipped.isEmpty else {
            throw CommandEnd(
                code: 3,
                message:
                    "\(Count.text(plan.skipped.count, "file")) not changed; edit by hand as docs/agents.md describes")
        }
    }

    private func write(_ plan: AgentInstallation) throws {
        guard !plan.changes.isEmpty else { return }
        if !yes {
            guard isatty(0) == 1, Terminal.errorIsTerminal else {
                throw CommandEnd(
                    code: 2,
                    message:
                        "nothing was written: standard input is not a terminal, so pipectl can't ask. Use `pipectl agents install --yes`"
                )
            }
            Terminal.write("Write \(plan.changes.count) files? [y/N] ", to: 2)
            guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
                throw CommandEnd(code: 2, message: "nothing was written")
            }
        }
        try plan.write()
        for change in plan.changes { Terminal.say("wrote \(change.path)") }
    }
}

extension AgentHost: ExpressibleByArgument {}
