import Foundation

/// Which rights the credential has. They are read, not tried, wherever the forge tells them.
extension ForgeSession {
    /// The path of the project in the forge's API.
    package var project: String {
        address.kind == .gitlab ? "/projects/\(ForgeRequest.part(address.project))" : "/repos/\(address.project)"
    }

    /// Whether the credential may write to the repository, as releases, merges and fixes need it; nil if the forge does
    /// not say.
    ///
    /// - Throws: ``ForgeError``.
    package func mayWrite() async throws -> Bool? {
        switch address.kind {
        case .github:
            if let granted = try await appPermissions() { return ["write", "admin"].contains(granted["contents"]) }
            return try await tokenMayWrite()
        case .gitlab:
            struct Project: Decodable {
                var permissions: Permissions?
                struct Permissions: Decodable { var projectAccess: Access?, groupAccess: Access? }
                struct Access: Decodable { var accessLevel: Int? }
            }
            let rights = try await send(.get(project)).decode(Project.self).permissions
            // 30 is the role Developer.
            return [rights?.projectAccess?.accessLevel, rights?.groupAccess?.accessLevel].compactMap { $0 }.max()
                .map { $0 >= 30 }
        case .gitea, .forgejo: return try await send(.get(project)).decode(Repository.self).permissions?.push
        }
    }

    /// The permissions of a GitHub App where it is installed, by name; nil if the credential is a token.
    package func appPermissions() async throws -> [String: String]? {
        struct Installation: Decodable { var permissions: [String: String] }
        guard let authorization = try await appAuthorization() else { return nil }
        return try await client.send(.get("\(project)/installation"), authorization: authorization)
            .decode(Installation.self).permissions
    }

    private struct Repository: Decodable {
        var `private`: Bool?
        var permissions: Permissions?
        struct Permissions: Decodable { var push: Bool? }
    }

    private func tokenMayWrite() async throws -> Bool {
        struct Ref: Encodable { var sha: String }
        let answer = try await send(.get(project))
        let repository = try answer.decode(Repository.self)
        guard repository.permissions?.push ?? true else { return false }
        if let scopes = TokenScopes(answer) { return scopes.includeRepository(isPrivate: repository.private) }
        // Nothing lists the permissions of a fine-grained token.
        return try await mayDo(.send(.patch, "\(project)/git/refs/tags/pipectl-connect", Ref(sha: Self.noCommit)))
    }

    /// Sends a request that can't take effect, since it names something that does not exist. A forge checks the
    /// permission before it looks for that.
    ///
    /// - Returns: False if the forge says that the permission is missing.
    package func mayDo(_ request: ForgeRequest) async throws -> Bool {
        do {
            _ = try await send(request)
            return true
        } catch let error as ForgeError where error.code == .forbidden {
            return false
        } catch let error as ForgeError where [.notFound, .refused].contains(error.code) {
            return true
        }
    }

    /// The number of a comment that never exists: the largest that an API takes.
    package static let noComment = Int64.max

    /// The id of a commit that never exists.
    package static let noCommit = String(repeating: "0", count: 39) + "1"
}

/// What a classic token of GitHub may do. GitHub says it with each answer.
package struct TokenScopes: Sendable {
    private let names: Set<String>

    /// Nil if the answer names none, as for other credentials.
    package init?(_ answer: ForgeAnswer) {
        guard let header = answer.headers["x-oauth-scopes"] else { return nil }
        names = Set(header.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    }

    package func contains(_ name: String) -> Bool { names.contains(name) }

    /// Whether they are for all that a repository has.
    package func includeRepository(isPrivate: Bool?) -> Bool {
        contains("repo") || (contains("public_repo") && isPrivate == false)
    }
}
