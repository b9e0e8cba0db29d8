import ArgumentParser
import Client
import Control
import StateFiles
import TerminalText

struct Protect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect", abstract: "Sets a repository's protected branch: its commits may use secrets.",
        discussion: """
            By default the protected branch is the one that HEAD names at the daemon's first observation. It does not change later, \
            because a push can create branches of any name. `pipectl status` and `pipectl doctor` show where you must decide.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The branch, without refs/heads/.")
    var branch: String
    @Option(help: "The repository's name in `pipectl status`. Default: the only one.")
    var repository: String?

    func run() async throws {
        Terminal.say(
            TerminalText.name(
                try await state.ask(.protect(branch: branch, repository: repository), "protect") {
                    if case .completed(let action) = $0 { action.inWords } else { nil }
                }, limit: 2_000))
    }
}
