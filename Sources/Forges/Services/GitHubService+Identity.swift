import ForgeConnection
import Foundation

/// Which rights pipectl has at GitHub. They are read, not tried, wherever GitHub tells them.
extension GitHubService {
    func identity() async throws -> ForgeIdentity {
        session.isApp ? try await appIdentity() : try await tokenIdentity()
    }

    private func appIdentity() async throws -> ForgeIdentity {
        struct App: Decodable { var slug: String }
        guard let authorization = try await session.appAuthorization(),
            let granted = try await session.appPermissions()
        else { return try await tokenIdentity() }
        let app = try await session.client.send(.get("/app"), authorization: authorization).decode(App.self)
        let repository = try await session.send(.get(root))
        let permissions = GitHubApp.permissions.map { wanted in
            let has = granted[wanted.name]
            return ForgePermission(
                name: "\(wanted.name): \(wanted.level)", purpose: wanted.purpose, isNeeded: wanted.isNeeded,
                isGranted: has == wanted.level || has == "write" || has == "admin",
                remedy:
                    "give the App \"\(wanted.name): \(wanted.level)\" in its settings and accept the change where it "
                    + "is installed")
        }
        return ForgeIdentity(
            login: "\(app.slug)[bot]", permissions: permissions, rateLimit: ForgeRateLimit(repository.headers))
    }

    private struct Repository: Decodable {
        var `private`: Bool?
        var permissions: Permissions?
        struct Permissions: Decodable { var push: Bool? }
    }

    private func tokenIdentity() async throws -> ForgeIdentity {
        let answer = try await session.send(.get(root))
        let repository = try answer.decode(Repository.self)
        let mayPush = repository.permissions?.push ?? true
        let statuses: Bool
        let comments: Bool
        if let scopes = TokenScopes(answer) {
            let hasRepository = scopes.includeRepository(isPrivate: repository.private)
            statuses = mayPush && (hasRepository || scopes.contains("repo:status"))
            comments = hasRepository
        } else {
            // Nothing lists the permissions of a fine-grained token.
            statuses = mayPush ? try await tryStatus() : false
            comments = try await tryComment()
        }
        return ForgeIdentity(
            login: "the token's owner",
            permissions: [
                ForgePermission(
                    name: "commit statuses: write", purpose: "show verdicts as commit statuses", isGranted: statuses,
                    remedy: "use a token with it, of somebody who may push to \(session.address.project)"),
                ForgePermission(
                    name: "pull requests: write", purpose: "comment on pull requests", isGranted: comments,
                    remedy: "use a token with it"),
                ForgePermission(
                    name: "contents: write", purpose: GitHubApp.writing, isNeeded: false,
                    isGranted: try await session.mayWrite() ?? true,
                    remedy: "use a token with it, of somebody who may push to \(session.address.project)"),
            ], rateLimit: ForgeRateLimit(answer.headers))
    }

    private func tryStatus() async throws -> Bool {
        struct Status: Encodable { var state: String, context: String }
        return try await session.mayDo(
            .send(
                .post, "\(root)/statuses/\(ForgeSession.noCommit)", Status(state: "pending", context: "pipectl/connect")
            ))
    }

    private func tryComment() async throws -> Bool {
        struct Comment: Encodable { var body: String }
        return try await session.mayDo(
            .send(
                .patch, "\(root)/issues/comments/\(ForgeSession.noComment)",
                Comment(body: "pipectl tries whether it may comment.")))
    }
}
