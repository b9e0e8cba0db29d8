public import ForgeConnection
import AsyncHTTPClient
import Foundation
public import Store

/// Signs people in by their account at GitHub, and asks what they may do in the repositories that are connected.
///
/// Source: https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
public struct GitHubSignIn: Sendable {
    /// What somebody may do: in all connected repositories, so that the pages show and do nothing that one of them would
    /// not.
    public enum Right: Sendable { case read, write }

    /// The forge's page, without a slash at the end.
    let web: String
    let clientID: String
    private let secret: String
    private let sessions: [(address: ForgeAddress, credential: ForgeCredential)]

    /// - Parameters:
    ///   - clientID: The id of an OAuth App, or of a GitHub App.
    ///   - credentials: Where the App's secret is, and the credentials of the connected repositories.
    /// - Returns: Nil where no repository is connected with GitHub, or no secret is set.
    /// - Throws: ``ForgeError`` with `.badCredential`.
    public static func make(
        clientID: String, index: Store.Index, credentials: ForgeCredentialStore
    ) async throws -> GitHubSignIn? {
        var sessions: [(address: ForgeAddress, credential: ForgeCredential)] = []
        for record in try await index.forges() {
            let address = try ForgeAddress(json: record.address)
            guard address.kind == .github, let found = try credentials.credential(for: record.repository) else {
                continue
            }
            sessions.append((address, found.0))
        }
        guard let first = sessions.first, case .token(let secret)? = try credentials.signInSecret() else { return nil }
        // People have one account at each GitHub: the rights of another one's are unknown.
        return GitHubSignIn(
            web: first.address.site, clientID: clientID, secret: secret,
            sessions: sessions.filter { $0.address.site == first.address.site })
    }

    private init(
        web: String, clientID: String, secret: String,
        sessions: [(address: ForgeAddress, credential: ForgeCredential)]
    ) {
        (self.web, self.clientID, self.secret, self.sessions) = (web, clientID, secret, sessions)
    }

    /// Where a browser is sent. No scope is asked for: who it is can be read without one.
    public func address(state: String, challenge: String, redirect: String) -> String {
        let query = [
            ("client_id", clientID), ("redirect_uri", redirect), ("state", state), ("code_challenge", challenge),
            ("code_challenge_method", "S256"), ("allow_signup", "false"),
        ]
        return "\(web)/login/oauth/authorize?"
            + query.map { "\($0)=\(ForgeRequest.part($1))" }.joined(separator: "&")
    }

    /// Who a code is about, and what they may do; nil rights for somebody who may not read all connected repositories.
    ///
    /// - Throws: ``ForgeError``.
    public func person(
        code: String, verifier: String, redirect: String
    ) async throws -> (login: String, right: Right?) {
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        do {
            let login = try await login(code: code, verifier: verifier, redirect: redirect, http)
            let right = try await right(of: login, http)
            try await http.shutdown()
            return (login, right)
        } catch {
            try? await http.shutdown()
            throw error
        }
    }

    private func login(
        code: String, verifier: String, redirect: String, _ http: HTTPClient
    ) async throws -> String {
        struct Exchange: Encodable {
            var clientId: String
            var clientSecret: String
            var code: String
            var redirectUri: String
            var codeVerifier: String
        }
        struct Answer: Decodable { var accessToken: String? }
        struct User: Decodable { var login: String }
        guard let api = sessions.first?.address.api else { throw Self.refused }
        let exchange = Exchange(
            clientId: clientID, clientSecret: secret, code: code, redirectUri: redirect, codeVerifier: verifier)
        let client = ForgeClient(root: web, headers: [("Accept", "application/json")], http: http)
        // A wrong code is answered with status 200 and without a token.
        let answer = try await client.send(.send(.post, "/login/oauth/access_token", exchange)).decode(Answer.self)
        guard let token = answer.accessToken, case .token(let text) = try ForgeCredential(text: token) else {
            throw Self.refused
        }
        let user = ForgeClient(
            root: api,
            headers: [("Accept", "application/vnd.github+json"), ("X-GitHub-Api-Version", "2022-11-28")], http: http)
        return try await user.send(.get("/user"), authorization: ("Authorization", "Bearer \(text)"))
            .decode(User.self).login
    }

    private static let refused = ForgeError(
        .unauthorized, "the forge did not accept its own code; begin anew, and check the App's id and secret")

    private func right(of login: String, _ http: HTTPClient) async throws -> Right? {
        var least = Right.write
        for (address, credential) in sessions {
            let reader = GitHubReader(session: try ForgeSession(address, credential, http: http))
            switch try await reader.permission(of: ForgeUser(login: login)) {
            case "admin", "write": break
            case "read": least = .read
            default: return nil
            }
        }
        return least
    }
}

extension ForgeAddress {
    /// The forge's own page: ``web`` without the repository.
    var site: String { String(web.dropLast(project.count + 1)) }
}
