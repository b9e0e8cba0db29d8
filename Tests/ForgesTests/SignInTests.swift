@testable import ForgeConnection
import Foundation
import Store
import SystemPackage
import TestBasics
import TestForge
import Testing

@testable import Forges

/// Signing in by an account at GitHub, against a small GitHub.
@Suite(.timeLimit(.minutes(1))) struct SignInTests {
    private static let code = "code-1"
    private static let verifier = String(repeating: "v", count: 64)

    /// - Parameter permissions: What Ada may in each connected repository.
    private func signedIn(
        _ permissions: [String: String], code: String = SignInTests.code
    ) async throws -> (
        result: Result<(login: String, right: GitHubSignIn.Right?), any Error>, asked: [ForgeDouble.Asked]
    ) {
        let double = try await ForgeDouble { asked in
            if asked.path == "/login/oauth/access_token" {
                return asked.json["code"] == Self.code && asked.json["code_verifier"] == Self.verifier
                    && asked.json["client_secret"] == "secret-123"
                    ? .json(200, #"{"access_token": "gho_user123", "token_type": "bearer", "scope": ""}"#)
                    : .json(200, #"{"error": "bad_verification_code"}"#)
            }
            if asked.path == "/user" {
                return asked.headers["authorization"] == "Bearer gho_user123"
                    ? .json(200, #"{"login": "ada", "id": 1}"#) : .json(401, "{}")
            }
            for (name, permission) in permissions
            where asked.path == "/repos/octo/\(name)/collaborators/ada/permission" {
                return asked.headers["authorization"] == "Bearer token-123"
                    ? .json(200, #"{"permission": "\#(permission)"}"#) : .json(401, "{}")
            }
            return .json(404, "{}")
        }
        let folder = try TemporaryFolder()
        let credentials = ForgeCredentialStore(
            folder: FilePath(folder.path), environment: ["PIPECTL_FORGE_TOKEN": "token-123"])
        try credentials.keep(signInSecret: .token("secret-123"))
        let index = try Index.inMemory()
        for name in permissions.keys {
            try await index.register(name, location: "/\(name)")
            let address = try ForgeAddress("\(double.url)/octo/\(name)", kind: .github, api: double.url)
            try await index.connectForge(name, address: try address.json(), location: "/\(name)")
        }
        let signIn = try #require(
            try await GitHubSignIn.make(clientID: "client-1", index: index, credentials: credentials))
        let result: Result<(login: String, right: GitHubSignIn.Right?), any Error>
        do {
            result = .success(
                try await signIn.person(code: code, verifier: Self.verifier, redirect: "http://127.0.0.1/sign-in/back"))
        } catch { result = .failure(error) }
        try await double.close()
        return (result, double.requests)
    }

    /// What Ada may in the connected repositories, and what she may at the pages.
    private static let rights: [(permissions: [String: String], right: GitHubSignIn.Right?)] = [
        (["a": "admin"], .write), (["a": "write"], .write), (["a": "read"], .read), (["a": "none"], nil),
        (["a": "write", "b": "read"], .read), (["a": "admin", "b": "none"], nil),
        (["a": "write", "b": "admin"], .write), (["a": "something new"], nil),
    ]

    @Test(arguments: rights) func `somebody may what they may in all connected repositories`(
        permissions: [String: String], right: GitHubSignIn.Right?
    ) async throws {
        let person = try await signedIn(permissions).result.get()
        #expect(person.login == "ada" && person.right == right)
    }

    @Test func `a code that the forge does not know is nobody`() async throws {
        let (result, asked) = try await signedIn(["a": "admin"], code: "code-2")
        #expect(throws: ForgeError.self) { try result.get() }
        #expect(asked.count == 1)
    }

    @Test func `the browser is sent to the forge with state and challenge, and no secret`() async throws {
        let folder = try TemporaryFolder()
        let environment = ["PIPECTL_FORGE_TOKEN": "token-123", "PIPECTL_SIGN_IN_SECRET": "secret-123"]
        let credentials = ForgeCredentialStore(folder: FilePath(folder.path), environment: environment)
        let index = try Index.inMemory()
        try await index.register("a", location: "/a")
        #expect(try await GitHubSignIn.make(clientID: "id", index: index, credentials: credentials) == nil)
        let address = try ForgeAddress("https://github.com/octo/a")
        try await index.connectForge("a", address: try address.json(), location: "/a")
        let signIn = try #require(try await GitHubSignIn.make(clientID: "id", index: index, credentials: credentials))
        let text = signIn.address(state: "s", challenge: "c", redirect: "https://ci.example.com/sign-in/back?x")
        #expect(
            text == "https://github.com/login/oauth/authorize?client_id=id"
                + "&redirect_uri=https%3A%2F%2Fci.example.com%2Fsign-in%2Fback%3Fx&state=s&code_challenge=c"
                + "&code_challenge_method=S256&allow_signup=false")
        let none = ForgeCredentialStore(
            folder: FilePath(folder.path), environment: ["PIPECTL_FORGE_TOKEN": "token-123"])
        #expect(try await GitHubSignIn.make(clientID: "id", index: index, credentials: none) == nil)
    }
}
