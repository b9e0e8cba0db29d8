import Foundation
import JWTKit

/// Makes the tokens that App Store Connect accepts, from an API key.
///
/// Source: https://developer.apple.com/documentation/appstoreconnectapi/generating-tokens-for-api-requests
actor AppStoreTokens {
    /// How long a token is valid, in seconds. Apple accepts at most 20 minutes; clocks may differ.
    static let lifetime = 15 * 60
    /// How long before its end a token is renewed, in seconds.
    static let margin = 120

    private let keys = JWTKeyCollection()
    private let key: ES256PrivateKey
    private let keyID: String
    private let issuer: String?
    private let now: @Sendable () -> Date
    private var isAdded = false
    private var newest: (token: String, end: Int)?

    /// - Parameters:
    ///   - key: The text of the `.p8` file that Apple gave.
    ///   - issuer: Nil for an individual key.
    /// - Throws: ``AppStoreError`` with `.badKey`.
    init(key: String, keyID: String, issuer: String?, now: @escaping @Sendable () -> Date = { Date() }) throws {
        func isPlain(_ text: String) -> Bool {
            !text.isEmpty && text.utf8.count <= 100
                && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") }
        }
        guard isPlain(keyID) else {
            throw AppStoreError(
                .badKey, "the key's id is no id; App Store Connect shows it beside the key, as in 2X9R4HXF34")
        }
        if let issuer, !isPlain(issuer) {
            throw AppStoreError(
                .badKey, "the issuer is no id; App Store Connect shows it above the keys, and individual keys have none"
            )
        }
        do {
            self.key = try ES256PrivateKey(pem: key)
        } catch {
            throw AppStoreError(
                .badKey,
                "the API key can't be read; store the .p8 file as Apple gave it: "
                    + "pipectl secrets set NAME < AuthKey_\(keyID).p8")
        }
        self.keyID = keyID
        self.issuer = issuer
        self.now = now
    }

    /// A token that is valid for at least ``margin`` more seconds.
    func token() async throws -> String {
        let date = Int(now().timeIntervalSince1970)
        if let newest, newest.end - date > Self.margin { return newest.token }
        if !isAdded {
            await keys.add(ecdsa: key, kid: JWKIdentifier(string: keyID))
            isAdded = true
        }
        // Apple's clock may be behind.
        let claims = Claims(
            iss: issuer, sub: issuer == nil ? "user" : nil, iat: date - 60, exp: date - 60 + Self.lifetime)
        let token = try await keys.sign(claims, kid: JWKIdentifier(string: keyID))
        newest = (token, claims.exp)
        return token
    }

    /// Forgets `token`, which was refused. A newer token stays.
    func discard(_ token: String) {
        if newest?.token == token { newest = nil }
    }

    /// What a token says. Individual keys have a subject and no issuer.
    struct Claims: JWTPayload {
        var iss: String?
        var sub: String?
        /// Seconds since 1970.
        var iat: Int
        var exp: Int
        var aud = "appstoreconnect-v1"
        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }
}
