public import ForgeConnection
import Foundation

/// The GitHub App that a team registers for pipectl: its permissions and events, once.
public struct GitHubApp: Sendable {
    /// A permission of the App.
    struct Permission: Sendable {
        var name: String
        var level: String
        var purpose: String
        var isNeeded = true
    }

    /// What writing to the repository is for.
    static let writing = "publish releases, merge changes of the merge queue and push fixes"

    static let permissions = [
        Permission(name: "checks", level: "write", purpose: "show verdicts as checks"),
        Permission(name: "pull_requests", level: "write", purpose: "comment on pull requests and review them"),
        Permission(
            name: "issues", level: "write", purpose: "make tasks of issues and answer there", isNeeded: false),
        Permission(name: "metadata", level: "read", purpose: "find the repository"),
        Permission(name: "contents", level: "write", purpose: writing, isNeeded: false),
        Permission(
            name: "security_events", level: "write", purpose: "send SARIF files to code scanning", isNeeded: false),
    ]

    /// The events that pipectl hears, if it has a webhook.
    static let events = [
        "check_run", "check_suite", "issue_comment", "issues", "pull_request", "pull_request_review",
        "pull_request_review_comment", "push",
    ]

    private let address: ForgeAddress
    /// Where GitHub sends events; nil for none.
    private let webhook: URL?

    /// - Throws: ``ForgeError`` with `.badAddress`: another forge, or a webhook that is not reached by https.
    public init(for address: ForgeAddress, webhook: String? = nil) throws {
        guard address.kind == .github else {
            throw ForgeError(.badAddress, "\(address.kind.title) has no Apps; make a token there")
        }
        self.address = address
        self.webhook = try webhook.map { text in
            guard let url = URL(string: text), url.scheme == "https", url.host(percentEncoded: false) != nil,
                url.user == nil
            else {
                throw ForgeError(
                    .badAddress, "\"\(text.prefix(200))\" is no address of a webhook; write https://HOST/PATH")
            }
            return url
        }
    }

    private var owner: String { address.project.split(separator: "/").first.map(String.init) ?? "" }

    /// Names of Apps are unique at GitHub and have at most 34 characters.
    private var name: String { String("pipectl-\(owner)".prefix(34)) }

    private var site: String { String(address.web.dropLast(address.project.count + 1)) }

    /// The App's manifest, as JSON for people to read.
    ///
    /// Source: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
    public func manifest() throws -> String {
        struct Manifest: Encodable {
            var name: String
            var url: String
            var `public` = false
            var hookAttributes: Hook
            var defaultPermissions: [String: String]
            var defaultEvents: [String]
            struct Hook: Encodable {
                var url: String
                var active: Bool
            }
        }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let manifest = Manifest(
            name: name, url: address.web,
            hookAttributes: Manifest.Hook(url: (webhook?.absoluteString ?? address.web), active: webhook != nil),
            defaultPermissions: Dictionary(uniqueKeysWithValues: Self.permissions.map { ($0.name, $0.level) }),
            defaultEvents: webhook == nil ? [] : Self.events)
        return String(decoding: try encoder.encode(manifest), as: UTF8.self)
    }

    /// The page at which an organisation's owner registers the App, filled in from the manifest.
    ///
    /// Source: https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-using-url-parameters
    public var organisationPage: String { "\(site)/organizations/\(owner)/settings/apps/new?\(parameters)" }

    /// The same page for a person's own account.
    public var personalPage: String { "\(site)/settings/apps/new?\(parameters)" }

    /// What a person does to register and connect the App.
    public var steps: String {
        """
        1. Open this page, which is filled in, as an owner of the organisation, and press "Create GitHub App":
           \(organisationPage)
           For a person's own account: \(personalPage)
        2. On the App's page, note its App ID, and press "Generate a private key": the browser saves a .pem file.
        3. Under "Install App", install it for \(address.project).
        4. Run: pipectl forge connect \(address.web) --app ID --key-file FILE.pem
        """
    }

    private var parameters: String {
        var values = [("name", name), ("url", address.web), ("public", "false")]
        values += Self.permissions.map { ($0.name, $0.level) }
        values.append(("webhook_active", "\(webhook != nil)"))
        if let webhook {
            values.append(("webhook_url", webhook.absoluteString))
            values += Self.events.map { ("events[]", $0) }
        }
        return values.map { "\(ForgeRequest.part($0.0))=\(ForgeRequest.part($0.1))" }.joined(separator: "&")
    }
}
