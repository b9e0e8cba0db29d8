import ChangeOpening
import ForgeConnection
import Foundation

/// Source: https://docs.gitlab.com/api/issues/ and https://docs.gitlab.com/api/notes/
extension GitLabReader: ForgeIssueReading {
    private struct Issue: Decodable {
        struct User: Decodable {
            var username: String
            var id: Int
        }
        var iid: Int
        var title: String
        var description: String?
        var state: String
        var author: User?
        var labels: [String]
        var webUrl: String?
        var updatedAt: String

        func issue() throws -> ForgeIssue {
            ForgeIssue(
                number: iid, title: title, body: description ?? "",
                author: ForgeUser(login: author?.username ?? "", id: author?.id), labels: labels,
                isOpen: state == "opened", link: ForgeSession.link(webUrl), updatedAt: try ForgeTime.date(updatedAt))
        }
    }

    func issue(_ number: Int) async throws -> ForgeIssue? {
        try await session.find(.get("\(root)/issues/\(number)"))?.decode(Issue.self).issue()
    }

    func issues(since date: Date, etag: String?) async throws -> (issues: [ForgeIssue], etag: String?)? {
        let query = [
            "order_by": "updated_at", "sort": "desc", "scope": "all", "updated_after": ForgeTime.text(date),
        ]
        let found = try await session.conditionalPages(
            "\(root)/issues", query, etag: etag, of: Issue.self
        ) { _ in false }
        return found.map { found in (found.items.compactMap { try? $0.issue() }, found.etag) }
    }

    func issueRemarks(of issue: Int, since date: Date) async throws -> [ForgeRemark] {
        try await notes("\(root)/issues/\(issue)/notes", change: issue, since: date)
    }

    /// GitLab's notes have what reviews say.
    func reviewRemarks(of change: Int, since date: Date) async throws -> [ForgeRemark] { [] }
}
