import ArgumentParser
import Client
import Control
import TerminalText

struct TokenRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Makes a token invalid at once, and ends the sessions that were begun with it."
    )

    @OptionGroup var state: StateOptions
    @Argument(help: "The token's name.")
    var name: String?
    @Flag(help: "Ends all sessions of browsers instead, and keeps the tokens.") var sessions = false

    func validate() throws {
        if sessions != (name == nil) { throw ValidationError("name a token, or write --sessions") }
    }

    func run() async throws {
        let action = try await state.ask(.revokeToken(name), "token revoke") {
            if case .completed(let action) = $0 { action } else { nil }
        }
        Terminal.say(TerminalText.name(action.inWords, limit: 1_000))
    }
}
