import ForgeConnection
import StateFiles
import Client
public import ArgumentParser
import Control
import Foundation
import Forges
import Sandbox
import SystemPackage
import TerminalText

struct ForgeConnect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Connects a repository with its forge, after it has tried each permission.",
        discussion: """
            The credential is the first of these that exists: --token-file, --app with --key-file, --gh, systemd's \
            credential pipectl-forge-NAME, the environment variable PIPECTL_FORGE_TOKEN, the one that is stored already, \
            standard input (typing is hidden on a terminal). It is never taken from the command line, because other users \
            can see that.

            --manifest prints what a GitHub App for pipectl needs, and the page at which GitHub registers it.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The repository's page at the forge: https://HOST/OWNER/NAME.")
    var url: String
    @Option(help: "The forge's product: github, gitlab, gitea or forgejo. Default: found from the host's name.")
    var kind: ForgeKind?
    @Option(help: ArgumentHelp("The root of the forge's API. Default: its usual place.", valueName: "url"))
    var api: String?
    @OptionGroup var place: RepositoryOption
    @Option(help: ArgumentHelp("A file that contains a token.", valueName: "file"))
    var tokenFile: String?
    @Option(help: ArgumentHelp("The id of a GitHub App; needs --key-file.", valueName: "id"))
    var app: String?
    @Option(help: ArgumentHelp("A file with the App's private key, unchanged as GitHub gave it.", valueName: "file"))
    var keyFile: String?

    @Flag(help: "Takes the token of GitHub's command line: gh auth token.") var gh = false
    @Flag(help: "Prints the manifest of a GitHub App and how to register it. Connects nothing.") var manifest = false
    @Option(help: ArgumentHelp("Where GitHub is to send events, for --manifest.", valueName: "url"))
    var webhook: String?

    func validate() throws {
        if webhook != nil, !manifest { throw ValidationError("--webhook goes with --manifest") }
        if [app != nil, tokenFile != nil, gh].count(where: { $0 }) > 1, app == nil || tokenFile == nil {
            throw ValidationError("--gh excludes --app and --token-file")
        }
        if (app == nil) != (keyFile == nil) { throw ValidationError("--app and --key-file go together") }
        if app != nil, tokenFile != nil { throw ValidationError("--app and --token-file exclude each other") }
    }

    func run() async throws {
        let address = try ForgeAddress(url, kind: kind, api: api)
        if manifest { return try printManifest(address) }
        let place = place.place
        let facts = try await state.ask(.repository(place), "forge connect") {
            if case .repository(let facts) = $0 { facts } else { nil }
        }
        let store = ForgeCredentialStore(folder: FilePath(try state.folder().forges))
        let (credential, isNew) = try await credential(for: facts.name, in: store)
        let identity = try await ForgeConnector.identity(at: address, with: credential)
        Terminal.say("\(address.project) at \(address.kind.title), as \(TerminalText.name(identity.login, limit: 100))")
        for permission in identity.permissions {
            let sign = permission.isGranted ? "✓" : permission.isNeeded ? "✗" : "–"
            Terminal.say("  \(sign) \(permission.name): to \(permission.purpose)")
        }
        let lacking = identity.lacking
        if !lacking.isEmpty {
            let remedies = lacking.compactMap(\.remedy).map { "  \($0)" }.joined(separator: "\n")
            throw CommandEnd(
                code: 2,
                message:
                    "not connected: \(lacking.count) of \(identity.permissions.count) permissions are missing\n\(remedies)"
            )
        }
        if isNew { try store.keep(credential, for: facts.name) }
        // Before the daemon hears of the connection: deliveries are signed with it from the first one on.
        let secret: WebhookSecret
        if let known = try store.webhookSecret(for: facts.name) {
            secret = known
        } else {
            secret = WebhookSecret()
            try store.keep(secret, for: facts.name)
        }
        let request = ForgeConnectRequest(repository: place, address: try address.json())
        let webhook = try await state.ask(.connectForge(request), "forge connect") { reply -> String?? in
            if case .completed(.connectedForge(_, _, let webhook)) = reply { .some(webhook) } else { nil }
        }
        Terminal.say("connected: from the next run on, \(address.web) shows the verdicts of \(facts.name)")
        guard let webhook else {
            Terminal.say(
                "webhooks are not heard, so pushes are found by looking; `pipectl watch --listen 8787` hears them")
            return
        }
        Terminal.say("\nEnter this webhook at \(address.kind.title), so that pushes and comments are heard at once:")
        Terminal.print(WebhookForm(url: webhook, secret: secret, kind: address.kind, credential: credential).text)
    }

    /// The credential, and whether it is to be stored.
    private func credential(
        for repository: String, in store: ForgeCredentialStore
    ) async throws -> (ForgeCredential, isNew: Bool) {
        if let app, let keyFile {
            return (try ForgeCredential(text: "app \(app)\n\(try Self.text(of: keyFile))"), true)
        }
        if let tokenFile { return (try ForgeCredential(text: try Self.text(of: tokenFile)), true) }
        if gh { return (try await Self.tokenOfGH(url), true) }
        if let (found, _) = try store.credential(for: repository) { return (found, false) }
        let bytes = try HiddenInput.read(prompt: "Token: ", limit: 64 << 10)
        return (try ForgeCredential(text: String(decoding: bytes, as: UTF8.self)), true)
    }

    /// The token that GitHub's command line keeps for the host of `url`.
    private static func tokenOfGH(_ url: String) async throws -> ForgeCredential {
        let host = URL(string: url)?.host(percentEncoded: false) ?? "github.com"
        let result: ExternalCommandResult
        do {
            result = try await ExternalCommand(
                "gh", ["auth", "token", "--hostname", host], deadline: .seconds(30), outputLimit: 64 << 10
            ).run()
        } catch let error as ExternalCommandError {
            throw CommandEnd(code: 2, message: "\(error)")
        }
        // What it printed is not shown: it may be a token.
        guard result.succeeded, let credential = try? ForgeCredential(text: result.text) else {
            throw CommandEnd(
                code: 2, message: "gh has no token for \(host); run `gh auth login --hostname \(host)` first")
        }
        return credential
    }

    private func printManifest(_ address: ForgeAddress) throws {
        let app = try GitHubApp(for: address, webhook: webhook)
        Terminal.print(try app.manifest())
        Terminal.say(app.steps)
    }

    private static func text(of path: String) throws -> String {
        do {
            let bytes = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
            guard bytes.count <= 64 << 10 else {
                throw CommandEnd(code: 2, message: "\(path) is too large to be a credential")
            }
            return String(decoding: bytes, as: UTF8.self)
        } catch let error as CocoaError {
            throw CommandEnd(code: 2, message: "\(path) can't be read: \(error.localizedDescription)")
        }
    }
}

extension ForgeKind: ExpressibleByArgument {}
