import ForgeConnection
import Foundation
import Results
import Store

/// Source: https://docs.github.com/en/rest/pulls/pulls, https://docs.github.com/en/rest/issues/comments and
/// https://docs.github.com/en/rest/collaborators/collaborators
struct GitHubReader: ForgeReading {
    let session: ForgeSession
    var root: String { "/repos/\(session.address.project)" }

    private struct User: Decodable {
        var login: String
        var id: Int
        var type: String?
    }

    private struct Pull: Decodable {
        struct Side: Decodable {
            struct Repository: Decodable { var id: Int, fullName: String }
            var ref: String
            var sha: String
            /// Nil where the fork is gone.
            var repo: Repository?
        }
        struct Label: Decodable { var name: String }
        var number: Int
        var title: String
        var state: String
        var draft: Bool?
        /// Nil where the account is gone.
        var user: User?
        var labels: [Label]
        var head: Side
        var base: Side
        var authorAssociation: String
        var updatedAt: String
    }

    private struct Comment: Decodable {
        var id: Int
        var body: String?
        var user: User?
        var createdAt: String
        var updatedAt: String
    }

    func change(_ number: Int) async throws -> ForgeChange? {
        try await session.find(.get("\(root)/pulls/\(number)")).map { try change($0.decode(Pull.self)) }
    }

    func changes(since date: Date?, etag: String?) async throws -> (changes: [ForgeChange], etag: String?)? {
        var query = ["sort": "updated", "direction": "desc"]
        query["state"] = date == nil ? "open" : "all"
        let found = try await session.conditionalPages(
            "\(root)/pulls", query, etag: etag, of: Pull.self
        ) { pull in
            guard let date, let updated = try? ForgeTime.date(pull.updatedAt) else { return false }
            return updated < date
        }
        return found.map { found in
            (found.items.compactMap { try? change($0) }.filter { $0.updatedAt >= date ?? .distantPast }, found.etag)
        }
    }

    func remarks(of change: Int, since date: Date) async throws -> [ForgeRemark] {
        try await session.pages(
            "\(root)/issues/\(change)/comments", ["since": ForgeTime.text(date)], of: Comment.self
        ).map { comment in
            let login = comment.user?.login ?? ""
            return ForgeRemark(
                id: comment.id, change: change, body: comment.body ?? "",
                author: ForgeUser(login: login, id: comment.user?.id),
                isBot: comment.user?.type == "Bot" || login.hasSuffix("[bot]"),
                isEdited: comment.updatedAt != comment.createdAt, createdAt: try ForgeTime.date(comment.createdAt))
        }
    }

    func mayWrite(_ user: ForgeUser) async throws -> Bool {
        let level = try await permission(of: user)
        return level == "write" || level == "admin"
    }

    /// `admin`, `write`, `read` or `none`: "maintain" is "write" here, and "triage" is "read". Everybody may read a public
    /// repository.
    func permission(of user: ForgeUser) async throws -> String? {
        struct Level: Decodable { var permission: String }
        let path = "\(root)/collaborators/\(ForgeRequest.part(user.login))/permission"
        return try await session.find(.get(path))?.decode(Level.self).permission
    }

    private func change(_ pull: Pull) throws -> ForgeChange {
        let author = pull.user?.login ?? ""
        let isOwn = pull.head.repo != nil && pull.head.repo?.id == pull.base.repo?.id
        return ForgeChange(
            number: pull.number, author: ForgeUser(login: author, id: pull.user?.id),
            facts: try .bounded(
                title: pull.title, author: author, head: pull.head.sha, target: pull.base.ref,
                isOpen: pull.state == "open", isDraft: pull.draft ?? false, labels: pull.labels.map(\.name),
                headRepository: isOwn ? nil : pull.head.repo?.fullName ?? ForgeChange.gone),
            hasContributed: ["OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"].contains(pull.authorAssociation),
            updatedAt: try ForgeTime.date(pull.updatedAt))
    }
}

extension ForgeChange {
    /// Stands for a repository that is no longer there.
    static let gone = "a repository that is gone"
}
