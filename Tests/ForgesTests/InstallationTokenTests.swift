@testable import ForgeConnection
import TestForge
import AsyncHTTPClient
import CryptoExtras
import Foundation
import Synchronization
import Testing

@testable import Forges

@Suite struct InstallationTokenTests {
    private static let key: String = {
        // 2,048 bits is the size of the keys that GitHub makes.
        (try? _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation) ?? ""
    }()

    private func place(
        _ answer: @escaping @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer,
        _ body: (ForgeSession, ForgeDouble, TestClock) async throws -> Void
    ) async throws {
        let clock = TestClock()
        let double = try await ForgeDouble(answer)
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: .github, api: double.url)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        do {
            let credential = ForgeCredential.app(id: "1001", privateKey: Self.key)
            try await body(
                ForgeSession(address, credential, http: http, now: { clock.now }), double, clock)
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
        try await double.close()
    }

    /// Gives out `token-1`, `token-2`, …, each valid for an hour of the test's clock, and knows the newest only.
    private static func forge(_ count: TokenCount) -> @Sendable (ForgeDouble.Asked) -> ForgeDouble.Answer {
        { asked in
            if asked.path.hasSuffix("/installation") { return .json(200, #"{"id": 2001}"#) }
            if asked.path.hasSuffix("/access_tokens") {
                let number = count.next()
                return .json(201, #"{"token": "token-\#(number)", "expires_at": "2027-01-15T09:00:00Z"}"#)
            }
            return asked.headers["authorization"] == "Bearer token-\(count.value)" ? .json(200, "{}") : .json(401, "{}")
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [("write", true), ("read", false), ("none", false)])
    func `whether an App may write is read where it is installed`(level: String, mayWrite: Bool) async throws {
        let permissions = level == "none" ? "" : #""contents": "\#(level)""#
        let answer = ForgeDouble.Answer.json(200, #"{"id": 2001, "permissions": {\#(permissions)}}"#)
        try await place({ $0.path.hasSuffix("/installation") ? answer : .json(404, "{}") }) { session, double, _ in
            let known = try await session.mayWrite()
            #expect(known == mayWrite)
            #expect(double.requests.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a hundred callers at once make one token request`() async throws {
        let count = TokenCount()
        try await place(Self.forge(count)) { session, double, _ in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 { group.addTask { try await session.send(.get("/repos/octo/hello")).status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(double.requests.filter { $0.path.hasSuffix("/access_tokens") }.count == 1)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a hundred callers with a token that the forge forgot make one new one`() async throws {
        let count = TokenCount()
        try await place(Self.forge(count)) { session, double, _ in
            _ = try await session.send(.get("/repos/octo/hello"))
            // The forge revokes it: it knows only a token that nobody has asked for yet.
            _ = count.next()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<100 { group.addTask { try await session.send(.get("/repos/octo/hello")).status } }
                for try await status in group { #expect(status == 200) }
            }
            #expect(double.requests.filter { $0.path.hasSuffix("/access_tokens") }.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a token is renewed before it expires`() async throws {
        let count = TokenCount()
        try await place(Self.forge(count)) { session, double, clock in
            _ = try await session.send(.get("/repos/octo/hello"))
            // The test's clock begins at 08:00:00 on 15 January 2027.
            clock.advance(3_600 - InstallationTokens.margin + 1)
            _ = try await session.send(.get("/repos/octo/hello"))
            #expect(double.requests.filter { $0.path.hasSuffix("/access_tokens") }.count == 2)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `the App's own token is RS256, names the App and is valid for at most ten minutes`() async throws {
        let count = TokenCount()
        try await place(Self.forge(count)) { session, double, clock in
            _ = try await session.send(.get("/repos/octo/hello"))
            let header = try #require(double.requests.first?.headers["authorization"])
            let parts = header.dropFirst("Bearer ".count).split(separator: ".").map { Self.fields(String($0)) }
            #expect(parts.count == 3)
            #expect(parts[0]["alg"] as? String == "RS256")
            #expect(parts[1]["iss"] as? String == "1001")
            let (begin, end) = (parts[1]["iat"] as? Double ?? 0, parts[1]["exp"] as? Double ?? .infinity)
            #expect(begin < clock.now.timeIntervalSince1970)
            #expect(end > clock.now.timeIntervalSince1970 && end - begin <= 600)
        }
    }

    /// The JSON object in a part of a token.
    private static func fields(_ part: String) -> [String: Any] {
        var text = part.replacing("-", with: "+").replacing("_", with: "/")
        while text.utf8.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text) else { return [:] }
        return (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    }

    @Test func `a key that is none is refused without a word of it`() {
        #expect {
            _ = try ForgeSession(
                ForgeAddress("https://github.com/o/n"),
                .app(id: "1", privateKey: "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----"),
                http: .shared)
        } throws: { ($0 as? ForgeError)?.code == .badCredential && !"\($0)".contains("hunter2") }
    }
}

private final class TokenCount: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func next() -> Int {
        count.withLock {
            $0 += 1; return $0
        }
    }
}
