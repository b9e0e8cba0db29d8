package import AsyncHTTPClient
package import Foundation

/// Access to a forge's API with one credential.
package struct ForgeSession: Sendable {
    package let address: ForgeAddress
    package let client: ForgeClient
    /// Marks the comments that pipectl writes with this credential.
    package let mark: CommentMark
    private let authorization: Authorization

    private enum Authorization: Sendable {
        case fixed(name: String, value: String)
        case installation(InstallationTokens)
    }

    /// - Throws: ``ForgeError`` with `.badCredential`: an App at a forge without Apps, or a key that can't be read.
    package init(
        _ address: ForgeAddress, _ credential: ForgeCredential, http: HTTPClient,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        self.address = address
        mark = CommentMark(credential, project: address.project)
        var headers = [("Accept", "application/json")]
        if address.kind == .github {
            headers = [("Accept", "application/vnd.github+json"), ("X-GitHub-Api-Version", "2022-11-28")]
        }
        client = ForgeClient(root: address.api, headers: headers, http: http, now: now)
        switch (credential, address.kind) {
        case (.app(let id, let key), .github):
            authorization = .installation(
                try InstallationTokens(appID: id, privateKey: key, client: client, project: address.project, now: now))
        case (.app, _):
            throw ForgeError(.badCredential, "\(address.kind.title) knows no Apps of GitHub; use a token")
        case (.token(let token), .gitlab): authorization = .fixed(name: "PRIVATE-TOKEN", value: token)
        case (.token(let token), .github): authorization = .fixed(name: "Authorization", value: "Bearer \(token)")
        case (.token(let token), _): authorization = .fixed(name: "Authorization", value: "token \(token)")
        }
    }

    /// Whether the credential is a GitHub App: only an App may write check runs.
    package var isApp: Bool {
        if case .installation = authorization { return true }
        return false
    }

    /// The App's own token, for requests about the App itself; nil if the credential is a token.
    package func appAuthorization() async throws -> (name: String, value: String)? {
        guard case .installation(let tokens) = authorization else { return nil }
        return ("Authorization", "Bearer \(try await tokens.appToken())")
    }

    /// The header with the credential.
    package func authorization() async throws -> (name: String, value: String) {
        switch authorization {
        case .fixed(let name, let value): (name, value)
        case .installation(let tokens): ("Authorization", "Bearer \(try await tokens.token())")
        }
    }

    /// Sends `request`. If the forge rejects an installation token, it gets a new one and tries once more.
    package func send(_ request: ForgeRequest) async throws -> ForgeAnswer {
        switch authorization {
        case .fixed(let name, let value):
            return try await client.send(request, authorization: (name: name, value: value))
        case .installation(let tokens):
            let token = try await tokens.token()
            do {
                return try await client.send(request, authorization: ("Authorization", "Bearer \(token)"))
            } catch let error as ForgeError where error.code == .unauthorized {
                await tokens.discard(token)
                let renewed = try await tokens.token()
                return try await client.send(request, authorization: ("Authorization", "Bearer \(renewed)"))
            }
        }
    }

    /// All pages of a list, at most `most` pages of a hundred entries.
    package func pages<Value: Decodable & Sendable>(
        _ path: String, _ query: [String: String] = [:], of type: Value.Type, most: Int = 30
    ) async throws -> [Value] {
        let size = address.kind == .gitea || address.kind == .forgejo ? "limit" : "per_page"
        // Gitea's own limit is 50 unless its administrator allows more.
        let count = size == "limit" ? 50 : 100
        var all: [Value] = []
        for page in 1...most {
            var query = query
            query[size] = "\(count)"
            query["page"] = "\(page)"
            let found = try await send(.get(path, query)).decode([Value].self)
            all += found
            if found.count < count { break }
        }
        return all
    }
}
