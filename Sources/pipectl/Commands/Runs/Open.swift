import Preparing
import Workspaces
import ArgumentParser
import Client
import CommandHelp
import Engine
import Foundation
import Pipeline
import Sandbox
import StateFiles
import TerminalText

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Opens a shell in a copy of a failed run's workspace, in its step's sandbox.",
        discussion: """
            The shell has the step's variables and permissions, but no secrets. Changes are discarded at the end; the \
            retained workspace stays for `pipectl rerun RUN --failed`. The exit code is the command's.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var daemonOptions: DaemonOptionGroup
    @Argument(help: RunArgument.help)
    var run: RunArgument
    @Option(help: "The step whose environment to use. Default: the first that failed.")
    var step: String?
    @Argument(parsing: .postTerminator, help: "A command to run instead of a shell, after --.")
    var command: [String] = []

    mutating func run() async throws {
        try await state.resolve(&run)
        let (run, command) = (run.id, command)
        let code = try await RetainedWorkspaceShell.with(
            run: run, step: step, command: command, state: state.folder(),
            folders: daemonOptions.options(in: state.folder()).folders
        ) { shell in
            if command.isEmpty {
                let name = TerminalText.name(shell.step.name)
                Terminal.say(
                    "a copy of run \(run)'s workspace with the environment of step \"\(name)\", without secrets")
                Terminal.say("the step's command: \(TerminalText.name(shell.step.commandLine, limit: 2_000))")
            }
            return try TerminalSession(shell.opened).run()
        }
        if code != 0 { throw CommandEnd(code: code, message: nil) }
    }
}
