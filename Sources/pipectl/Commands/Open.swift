import ArgumentParser
import BuildBox
import TerminalText
import Engine
import Foundation
import Pipeline

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Opens a shell in a copy of the workspace that a failed run left, in the sandbox of its step.",
        discussion: """
            It has the step's variables and rights, and not its secrets. What is changed there is gone at the end; the \
            workspace stays for `pipectl rerun RUN --failed`. The exit code is the command's.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup(title: HelpText.daemon) var box: BoxOptionGroup
    @Argument(help: RunArgument.help)
    var run: RunArgument
    @Option(help: "As this step saw it. Default: the first that failed.")
    var step: String?
    @Argument(parsing: .postTerminator, help: "What is run instead of a shell, after --.")
    var command: [String] = []

    mutating func run() async throws {
        try await state.resolve(&run)
        let (run, command) = (run.id, command)
        let code = try await KeptShell.with(
            run: run, step: step, command: command, state: state.folder(), options: box.options()
        ) { shell in
            if command.isEmpty {
                let name = TerminalText.name(shell.step.name)
                Terminal.say("a copy of the workspace of run \(run), as step \"\(name)\" saw it, without its secrets")
                Terminal.say("its command: \(TerminalText.name(shell.step.commandLine, limit: 2_000))")
            }
            return try TerminalSession(shell.opened).run()
        }
        if code != 0 { throw CommandEnd(code: code, message: nil) }
    }
}
