@testable import ForgeConnection
import TestForge
import AsyncHTTPClient
import Foundation
import Testing

@testable import Forges

@Suite struct IdentityTests {
    /// Asks for the identity at a forge that answers each path as `answers` says, and 404 otherwise.
    private func identity(_ kind: ForgeKind, _ answers: [String: ForgeDouble.Answer]) async throws
        -> (ForgeIdentity, [ForgeDouble.Asked])
    {
        let double = try await ForgeDouble { asked in
            answers.first { asked.path.hasSuffix($0.key) }?.value ?? .json(404, "{}")
        }
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        let result: Result<ForgeIdentity, any Error>
        do {
            let address = try ForgeAddress(
                "\(double.url)/octo/hello", kind: kind, api: kind == .github ? double.url : nil)
            result = .success(try await ForgeSession(address, .token("token-123"), http: http).service.identity())
        } catch { result = .failure(error) }
        try await http.shutdown()
        try await double.close()
        return (try result.get(), double.requests)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("repo, workflow", true, [true, true, true]), ("repo:status", true, [true, false, false]),
            ("", true, [false, false, false]), ("repo", false, [false, true, false]),
            ("public_repo", true, [true, true, true]), ("gist,  repo", true, [true, true, true]),
        ])
    func `the scopes of a classic token are read and nothing is tried`(
        scopes: String, mayPush: Bool, granted: [Bool]
    ) async throws {
        let repository = #"{"private": false, "permissions": {"push": \#(mayPush)}}"#
        let (identity, requests) = try await identity(
            .github,
            [
                "/repos/octo/hello": .json(
                    200, repository,
                    headers: [
                        "x-oauth-scopes": scopes, "x-ratelimit-limit": "5000", "x-ratelimit-remaining": "17",
                        "x-ratelimit-reset": "1800000000",
                    ])
            ])
        #expect(identity.permissions.map(\.isGranted) == granted)
        #expect(requests.allSatisfy { $0.method == "GET" })
        #expect(identity.rateLimit?.remaining == 17 && identity.rateLimit?.limit == 5_000)
        #expect(identity.rateLimit?.resetsAt == Date(timeIntervalSince1970: 1_800_000_000))
    }

    @Test(.timeLimit(.minutes(1)))
    func `what a fine-grained token may do is tried at things that don't exist`() async throws {
        let (identity, requests) = try await identity(
            .github, ["/repos/octo/hello": .json(200, #"{"permissions": {"push": true}}"#), "1": .json(422, "{}")])
        #expect(identity.lacking.isEmpty)
        #expect(requests.filter { $0.method != "GET" }.count == 3)
        // Verdicts are shown without the right to write, which releases need.
        let (other, _) = try await self.identity(
            .github,
            [
                "/repos/octo/hello": .json(200, #"{"permissions": {"push": true}}"#),
                "/git/refs/tags/pipectl-connect": .json(403, "{}"),
            ])
        #expect(other.lacking.isEmpty && other.permissions.map(\.isGranted) == [true, true, false])
        let (reader, asked) = try await self.identity(
            .github,
            ["/repos/octo/hello": .json(200, #"{"permissions": {"push": false}}"#), "07": .json(403, "{}")])
        #expect(reader.lacking.count == 2)
        #expect(asked.filter { $0.method != "GET" }.count == 1)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [(["api"], 30, 0), (["read_api"], 30, 1), (["api"], 20, 1)])
    func `GitLab tells a token's scopes and role`(scopes: [String], level: Int, lacking: Int) async throws {
        let list = scopes.map { "\"\($0)\"" }.joined(separator: ",")
        let (identity, requests) = try await identity(
            .gitlab,
            [
                "/user": .json(200, #"{"username": "bot"}"#),
                "/personal_access_tokens/self": .json(200, #"{"scopes": [\#(list)]}"#),
                "/projects/octo%2Fhello": .json(
                    200, #"{"permissions": {"project_access": {"access_level": \#(level)}, "group_access": null}}"#),
            ])
        #expect(identity.lacking.count == lacking)
        #expect(requests.allSatisfy { $0.method == "GET" })
    }

    @Test(.timeLimit(.minutes(1)))
    func `a reader at Gitea is not tried`() async throws {
        let (identity, requests) = try await identity(
            .gitea,
            [
                "/user": .json(200, #"{"login": "bot"}"#),
                "/repos/octo/hello": .json(200, #"{"permissions": {"push": false}}"#),
            ])
        #expect(identity.lacking.map(\.name) == ["write:repository"])
        #expect(!requests.contains { $0.path.contains("/statuses/") })
    }
}

@Suite struct GitHubAppTests {
    @Test func `the manifest and the filled-in page ask for the same permissions`() throws {
        let address = try ForgeAddress("https://github.com/octo/hello")
        let app = try GitHubApp(for: address, webhook: "https://ci.example.org/hooks/hello")
        let manifest = try #require(
            JSONSerialization.jsonObject(with: Data(app.manifest().utf8)) as? [String: Any])
        let permissions = try #require(manifest["default_permissions"] as? [String: String])
        #expect(permissions["checks"] == "write" && permissions["metadata"] == "read")
        #expect((manifest["hook_attributes"] as? [String: Any])?["active"] as? Bool == true)
        #expect((manifest["default_events"] as? [String])?.contains("check_run") == true)
        let page = try #require(URLComponents(string: app.organisationPage))
        #expect(page.path == "/organizations/octo/settings/apps/new")
        let items = Dictionary(
            (page.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { one, _ in one })
        for (name, level) in permissions { #expect(items[name] == level) }
        #expect(items["webhook_url"] == "https://ci.example.org/hooks/hello")
    }

    @Test func `without a webhook none is active`() throws {
        let app = try GitHubApp(for: ForgeAddress("https://ghe.example.org/octo/hello", kind: .github))
        #expect(app.personalPage.hasPrefix("https://ghe.example.org/settings/apps/new?name=pipectl-octo&"))
        #expect(app.personalPage.contains("webhook_active=false") && !app.personalPage.contains("events%5B"))
    }

    @Test(arguments: ["http://ci.example.org", "ftp://x", "https://", "https://user:secret@ci.example.org/", "x"])
    func `a webhook that is not reached by https is refused`(text: String) throws {
        let address = try ForgeAddress("https://github.com/octo/hello")
        let error = #expect(throws: ForgeError.self) { try GitHubApp(for: address, webhook: text) }
        #expect(error?.code == .badAddress)
    }

    @Test func `only GitHub has Apps`() throws {
        let address = try ForgeAddress("https://codeberg.org/octo/hello")
        #expect(throws: ForgeError.self) { try GitHubApp(for: address) }
    }
}
