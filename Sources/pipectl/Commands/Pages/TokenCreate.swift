public import ArgumentParser
import Client
import Control
import Foundation
import Pipeline
import Results

struct TokenCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Makes a token and prints it, this once: only its digest is kept.")

    @OptionGroup var state: StateOptions
    @Argument(help: "A name, by which the token is listed and revoked; reports of runs say it, too.")
    var name: String
    @Option(help: "What it may: read, operate, or proxy.")
    var scope: TokenScope
    @Option(
        help: ArgumentHelp("How long it is valid. Default: until it is revoked.", valueName: "time"),
        transform: DurationOption.days)
    var expires: Duration?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if let expires, expires <= .zero { throw ValidationError("--expires takes a time like 90d") }
    }

    func run() async throws {
        let wanted = TokenRequest(
            name: name, scope: scope,
            expiresAt: expires.map { Date().addingTimeInterval($0 / .seconds(1)) })
        let made = try await state.ask(.createToken(wanted), "token create") { reply -> Made? in
            if case .token(let text, let status) = reply { Made(token: text, status: status) } else { nil }
        }
        if json { return try JSONOutput.print(made) }
        Terminal.print(made.token)
        let end = made.status.expiresAt.map { "until \($0.iso8601Day)" } ?? "until it is revoked"
        Terminal.say("keep it now, it is not shown again; valid \(end): `pipectl token revoke \(name.shellQuoted)`")
    }

    private struct Made: Encodable {
        var token: String
        var status: TokenStatus
    }
}

extension TokenScope: ExpressibleByArgument {}
