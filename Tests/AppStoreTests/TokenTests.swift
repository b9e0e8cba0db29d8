import Foundation
import JWTKit
import Synchronization
import Testing

@testable import AppStore

@Suite struct TokenTests {
    private func part(_ token: String, _ index: Int) throws -> [String: Any] {
        var text = token.split(separator: ".").map(String.init)[index]
            .replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        let data = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test func `a team key's token has the form that Apple describes, and its signature holds`() async throws {
        let key = ES256PrivateKey()
        let date = Date(timeIntervalSince1970: 1_800_000_000.7)
        let tokens = try AppStoreTokens(
            key: key.pemRepresentation, keyID: "2X9R4HXF34", issuer: "57246542-96fe", now: { date })
        let token = try await tokens.token()
        let header = try part(token, 0)
        #expect(header["alg"] as? String == "ES256")
        #expect(header["kid"] as? String == "2X9R4HXF34")
        #expect(header["typ"] as? String == "JWT")
        let claims = try part(token, 1)
        #expect(Set(claims.keys) == ["iss", "iat", "exp", "aud"])
        #expect(claims["iss"] as? String == "57246542-96fe")
        #expect(claims["aud"] as? String == "appstoreconnect-v1")
        let issued = try #require(claims["iat"] as? Int)
        let end = try #require(claims["exp"] as? Int)
        #expect(issued <= 1_800_000_000 && end > 1_800_000_000 && end - issued <= 20 * 60)
        let keys = await JWTKeyCollection().add(ecdsa: key.publicKey, kid: "2X9R4HXF34")
        _ = try await keys.verify(token, as: AppStoreTokens.Claims.self)
    }

    @Test func `an individual key's token has a subject and no issuer`() async throws {
        let tokens = try AppStoreTokens(key: Fixture.key, keyID: "KEY", issuer: nil)
        let claims = try part(try await tokens.token(), 1)
        #expect(claims["sub"] as? String == "user")
        #expect(claims["iss"] == nil)
    }

    @Test func `a token is used until shortly before its end, or until it was refused`() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        let tokens = try AppStoreTokens(key: Fixture.key, keyID: "KEY", issuer: "I", now: { time.withLock { $0 } })
        let first = try await tokens.token()
        time.withLock { $0 += 600 }
        #expect(try await tokens.token() == first)
        time.withLock { $0 += 150 }
        let second = try await tokens.token()
        #expect(second != first)
        await tokens.discard(first)
        #expect(try await tokens.token() == second)
        await tokens.discard(second)
        time.withLock { $0 += 1 }
        #expect(try await tokens.token() != second)
    }

    @Test(arguments: [
        "", "no key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    ])
    func `a key that can't be read is an error`(text: String) {
        let error = #expect(throws: AppStoreError.self) { try AppStoreTokens(key: text, keyID: "KEY", issuer: "I") }
        #expect(error?.code == .badKey)
    }

    @Test(arguments: [("", "I"), ("KEY\n", "I"), ("KEY", ""), ("KEY", "an issuer")])
    func `an id that is none is an error`(pair: (String, String)) {
        let error = #expect(throws: AppStoreError.self) {
            try AppStoreTokens(key: Fixture.key, keyID: pair.0, issuer: pair.1)
        }
        #expect(error?.code == .badKey)
    }
}
