import ArgumentParser
import BuildBox
import TerminalText

struct Protect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protect", abstract: "Sets the branch whose commits count as merged and may use secrets.",
        discussion: """
            The box takes the branch that a repository's HEAD names when it first looks at it, and stays with that one: \
            a push can create branches of any name. `pipectl status` and `pipectl doctor` say where a person must decide.

            Example: pipectl protect develop --repository shop
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The branch, without refs/heads/.")
    var branch: String
    @Option(help: "The repository's name, as `pipectl status` shows it. Default: the only one.")
    var repository: String?

    func run() async throws {
        Terminal.say(
            TerminalText.name(
                try await state.ask(.protect(branch: branch, repository: repository), "protect") {
                    if case .done(let text) = $0 { text } else { nil }
                }, limit: 2_000))
    }
}
