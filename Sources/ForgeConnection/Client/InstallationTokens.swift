import Concurrency
package import Foundation
import JWTKit

/// Tokens of a GitHub App's installation: requested on demand, cached in memory, renewed before they expire.
///
/// Only one request runs at a time; other callers wait for the same answer. Source:
/// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
package actor InstallationTokens {
    /// How long before its expiry a token is renewed, in seconds.
    package static let margin = 300.0

    private let appID: String
    private let key: Insecure.RSA.PrivateKey
    private let client: ForgeClient
    private let project: String
    private let now: @Sendable () -> Date
    private var newest: (token: String, end: Date)?
    private var installation: Int?
    private let requests = SingleFlight<String>()

    /// - Throws: ``ForgeError`` with `.badCredential` if the key is not RSA in PEM.
    package init(
        appID: String, privateKey: String, client: ForgeClient, project: String,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        do {
            key = try Insecure.RSA.PrivateKey(pem: privateKey)
        } catch {
            throw ForgeError(
                .badCredential, "the App's private key can't be read; use the .pem file that GitHub gave, unchanged")
        }
        self.appID = appID
        self.client = client
        self.project = project
        self.now = now
    }

    /// A token that is valid for at least ``margin`` more seconds, or else the newest one.
    package func token() async throws -> String {
        if let newest, newest.end.timeIntervalSince(now()) > Self.margin { return newest.token }
        return try await requests.value(for: project) { try await renewed() }
    }

    /// Forgets `token`, which the forge rejected. A newer token stays.
    package func discard(_ token: String) {
        if newest?.token == token { newest = nil }
    }

    private func renewed() async throws -> String {
        let made = try await ask()
        newest = made
        return made.token
    }

    private func ask() async throws -> (token: String, end: Date) {
        struct Installation: Decodable { var id: Int }
        struct Token: Decodable { var token: String, expiresAt: String }
        let authorization = try await (name: "Authorization", value: "Bearer \(appToken())")
        if installation == nil {
            installation = try await client.send(.get("/repos/\(project)/installation"), authorization: authorization)
                .decode(Installation.self).id
        }
        guard let installation else { throw ForgeError(.notFound, "the App is not installed for \(project)") }
        let made = try await client.send(
            ForgeRequest(method: .post, path: "/app/installations/\(installation)/access_tokens"),
            authorization: authorization
        ).decode(Token.self)
        guard let end = try? Date(made.expiresAt, strategy: .iso8601) else {
            throw ForgeError(.badAnswer, "the forge's token has no readable expiry date")
        }
        return (made.token, end)
    }

    /// The App's own token: RS256, valid for nine minutes, issued one minute in the past because clocks differ.
    package func appToken() async throws -> String {
        struct Claims: JWTPayload {
            var iat: IssuedAtClaim
            var exp: ExpirationClaim
            var iss: IssuerClaim
            func verify(using algorithm: some JWTAlgorithm) async throws {}
        }
        let keys = await JWTKeyCollection().add(rsa: key, digestAlgorithm: .sha256)
        // GitHub accepts whole seconds only.
        let date = Date(timeIntervalSince1970: now().timeIntervalSince1970.rounded(.down))
        do {
            return try await keys.sign(
                Claims(
                    iat: IssuedAtClaim(value: date.addingTimeInterval(-60)),
                    exp: ExpirationClaim(value: date.addingTimeInterval(480)), iss: IssuerClaim(value: appID)))
        } catch {
            throw ForgeError(.badCredential, "signing with the App's private key failed")
        }
    }
}
