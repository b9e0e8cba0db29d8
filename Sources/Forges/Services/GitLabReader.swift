import ForgeConnection
import Foundation
import Results
import Store

/// Source: https://docs.gitlab.com/api/merge_requests/, https://docs.gitlab.com/api/notes/ and
/// https://docs.gitlab.com/api/project_members/
struct GitLabReader: ForgeReading {
    /// The access level of the role Developer, from which on people may push.
    static let developer = 30

    let session: ForgeSession
    var root: String { "/projects/\(ForgeRequest.part(session.address.project))" }

    private struct User: Decodable {
        var username: String
        var id: Int
    }

    private struct MergeRequest: Decodable {
        var iid: Int
        var title: String
        var state: String
        var draft: Bool?
        var author: User?
        var labels: [String]
        var sha: String?
        var targetBranch: String
        var sourceProjectId: Int?
        var targetProjectId: Int
        var updatedAt: String
        var firstContribution: Bool?
    }

    private struct Note: Decodable {
        var id: Int
        var body: String?
        var author: User?
        var system: Bool?
        var createdAt: String
        var updatedAt: String
    }

    func change(_ number: Int) async throws -> ForgeChange? {
        try await session.find(.get("\(root)/merge_requests/\(number)")).map {
            try change($0.decode(MergeRequest.self))
        }
    }

    func changes(since date: Date?, etag: String?) async throws -> (changes: [ForgeChange], etag: String?)? {
        var query = ["order_by": "updated_at", "sort": "desc", "scope": "all"]
        query["state"] = date == nil ? "opened" : "all"
        query["updated_after"] = date.map(ForgeTime.text)
        let found = try await session.conditionalPages(
            "\(root)/merge_requests", query, etag: etag, of: MergeRequest.self
        ) { _ in false }
        return found.map { found in
            // One without commits has no head, and nothing to test. What can't be read must not hide all others.
            (found.items.compactMap { try? change($0) }, found.etag)
        }
    }

    func remarks(of change: Int, since date: Date) async throws -> [ForgeRemark] {
        try await notes("\(root)/merge_requests/\(change)/notes", change: change, since: date)
    }

    /// The notes of a merge request or an issue, newest first.
    func notes(_ path: String, change: Int, since date: Date) async throws -> [ForgeRemark] {
        let found = try await session.conditionalPages(
            path, ["order_by": "updated_at", "sort": "desc"], etag: nil, of: Note.self
        ) { note in (try? ForgeTime.date(note.updatedAt)).map { $0 < date } ?? false }
        return try (found?.items ?? []).filter { $0.system != true }.map { note in
            let name = note.author?.username ?? ""
            return ForgeRemark(
                id: note.id, change: change, body: note.body ?? "", author: ForgeUser(login: name, id: note.author?.id),
                // The accounts of access tokens have names that nobody can choose.
                isBot: name.contains(/^(project|group)_[0-9]+_bot/), isEdited: note.updatedAt != note.createdAt,
                createdAt: try ForgeTime.date(note.createdAt))
        }
    }

    func mayWrite(_ user: ForgeUser) async throws -> Bool {
        struct Member: Decodable {
            var username: String
            var accessLevel: Int
            var state: String?
        }
        guard let id = user.id else { return false }
        let member = try await session.find(.get("\(root)/members/all/\(id)"))?.decode(Member.self)
        guard let member, member.username == user.login else { return false }
        return member.accessLevel >= Self.developer && member.state ?? "active" == "active"
    }

    private func change(_ request: MergeRequest) throws -> ForgeChange {
        let author = request.author?.username ?? ""
        let isOwn = request.sourceProjectId == request.targetProjectId
        return ForgeChange(
            number: request.iid, author: ForgeUser(login: author, id: request.author?.id),
            facts: try .bounded(
                title: request.title, author: author, head: request.sha ?? "", target: request.targetBranch,
                isOpen: request.state == "opened" || request.state == "locked", isDraft: request.draft ?? false,
                labels: request.labels,
                headRepository: isOwn ? nil : request.sourceProjectId.map { "project \($0)" } ?? ForgeChange.gone),
            hasContributed: request.firstContribution.map { !$0 },
            updatedAt: try ForgeTime.date(request.updatedAt))
    }
}
