import ArgumentParser

struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Manages tokens for the pages and the API.",
        discussion: """
            A program sends its token as `Authorization: Bearer TOKEN`; a person enters it at /login. A token may read, or \
            operate: repeat, cancel, approve, land. A proxy that people log in to sends one of the scope proxy, and \
            says who asks in the header that the setting pagesUserHeader names.
            """,
        subcommands: [TokenCreate.self, TokenList.self, TokenRevoke.self], defaultSubcommand: TokenList.self)
}
