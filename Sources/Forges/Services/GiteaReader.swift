import ForgeConnection
import Foundation
import Results
import Store

/// Gitea and Forgejo. Source: https://docs.gitea.com/api/
struct GiteaReader: ForgeReading {
    let session: ForgeSession
    var root: String { "/repos/\(session.address.project)" }

    private struct User: Decodable {
        var login: String
        var id: Int
    }

    private struct Pull: Decodable {
        struct Side: Decodable {
            var ref: String
            var sha: String
            var repoId: Int
            var repo: Repository?
            struct Repository: Decodable { var fullName: String }
        }
        struct Label: Decodable { var name: String }
        var number: Int
        var title: String
        var state: String
        var draft: Bool?
        var user: User?
        var labels: [Label]?
        var head: Side
        var base: Side
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
        var query = ["sort": "recentupdate"]
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
        try await session.send(.get("\(root)/issues/\(change)/comments", ["since": ForgeTime.text(date)]))
            .decode([Comment].self).map { comment in
                ForgeRemark(
                    id: comment.id, change: change, body: comment.body ?? "",
                    author: ForgeUser(login: comment.user?.login ?? "", id: comment.user?.id),
                    // Gitea's own accounts have negative numbers.
                    isBot: (comment.user?.id ?? 0) <= 0, isEdited: comment.updatedAt != comment.createdAt,
                    createdAt: try ForgeTime.date(comment.createdAt))
            }
    }

    func mayWrite(_ user: ForgeUser) async throws -> Bool {
        struct Level: Decodable { var permission: String }
        let path = "\(root)/collaborators/\(ForgeRequest.part(user.login))/permission"
        let level = try await session.find(.get(path))?.decode(Level.self).permission
        return ["write", "admin", "owner"].contains(level)
    }

    private func change(_ pull: Pull) throws -> ForgeChange {
        let author = pull.user?.login ?? ""
        let isOwn = pull.head.repoId == pull.base.repoId
        return ForgeChange(
            number: pull.number, author: ForgeUser(login: author, id: pull.user?.id),
            facts: try .bounded(
                title: pull.title, author: author, head: pull.head.sha, target: pull.base.ref,
                isOpen: pull.state == "open", isDraft: pull.draft ?? false, labels: (pull.labels ?? []).map(\.name),
                headRepository: isOwn ? nil : pull.head.repo?.fullName ?? ForgeChange.gone),
            hasContributed: nil, updatedAt: try ForgeTime.date(pull.updatedAt))
    }
}
