import ArgumentParser
import Client
import Control
import Foundation
import Results

struct TokenList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the tokens, what each may, and when it was last used.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        let tokens = try await state.ask(.tokens, "token list") {
            if case .tokens(let tokens) = $0 { tokens } else { nil }
        }
        if json { return try JSONOutput.print(tokens) }
        guard !tokens.isEmpty else {
            return Terminal.say("there is no token; `pipectl token create NAME --scope read` makes one")
        }
        let now = Date()
        let rows = tokens.map { token in
            let end = token.expiresAt.map { $0 > now ? $0.iso8601Day : "expired" } ?? "never"
            return [
                token.name, token.scope.rawValue, "pipectl_\(token.id)…", token.createdAt.iso8601Day, end,
                token.lastUsedAt?.iso8601 ?? "never",
            ]
        }
        Terminal.print(TextTable.text(["NAME", "SCOPE", "BEGINS WITH", "CREATED", "EXPIRES", "LAST USED"], rows))
    }
}
