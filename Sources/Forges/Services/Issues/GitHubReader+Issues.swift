import ChangeOpening
import ForgeConnection
import Foundation

/// Source: https://docs.github.com/en/rest/issues/issues and https://docs.github.com/en/rest/pulls/comments
extension GitHubReader: ForgeIssueReading {
    private struct User: Decodable {
        var login: String
        var id: Int
        var type: String?

        var isBot: Bool { type == "Bot" || login.hasSuffix("[bot]") }
    }

    private struct Issue: Decodable {
        struct Label: Decodable { var name: String? }
        struct Pull: Decodable {}
        var number: Int
        var title: String
        var body: String?
        var state: String
        var user: User?
        var labels: [Label]
        var htmlUrl: String?
        var updatedAt: String
        /// A change is an issue, too.
        var pullRequest: Pull?

        func issue() throws -> ForgeIssue {
            ForgeIssue(
                number: number, title: title, body: body ?? "",
                author: ForgeUser(login: user?.login ?? "", id: user?.id), labels: labels.compactMap(\.name),
                isOpen: state == "open", link: ForgeSession.link(htmlUrl), updatedAt: try ForgeTime.date(updatedAt))
        }
    }

    func issue(_ number: Int) async throws -> ForgeIssue? {
        let found = try await session.find(.get("\(root)/issues/\(number)"))?.decode(Issue.self)
        guard let found, found.pullRequest == nil else { return nil }
        return try found.issue()
    }

    func issues(since date: Date, etag: String?) async throws -> (issues: [ForgeIssue], etag: String?)? {
        let query = ["state": "all", "sort": "updated", "direction": "desc", "since": ForgeTime.text(date)]
        let found = try await session.conditionalPages(
            "\(root)/issues", query, etag: etag, of: Issue.self
        ) { _ in false }
        return found.map { found in
            (found.items.filter { $0.pullRequest == nil }.compactMap { try? $0.issue() }, found.etag)
        }
    }

    func issueRemarks(of issue: Int, since date: Date) async throws -> [ForgeRemark] {
        try await remarks(of: issue, since: date)
    }

    private struct LineComment: Decodable {
        var id: Int
        var body: String?
        var path: String?
        var line: Int?
        var user: User?
        var createdAt: String
        var updatedAt: String
    }

    private struct Review: Decodable {
        var id: Int
        var body: String?
        var user: User?
        /// Missing while the review is being written.
        var submittedAt: String?
    }

    func reviewRemarks(of change: Int, since date: Date) async throws -> [ForgeRemark] {
        let lines = try await session.pages(
            "\(root)/pulls/\(change)/comments", ["since": ForgeTime.text(date)], of: LineComment.self)
        let reviews = try await session.pages("\(root)/pulls/\(change)/reviews", of: Review.self)
        return try lines.map { comment in
            ForgeRemark(
                id: comment.id, change: change,
                body: ForgeRemark.text(comment.body ?? "", path: comment.path, line: comment.line),
                author: ForgeUser(login: comment.user?.login ?? "", id: comment.user?.id),
                isBot: comment.user?.isBot ?? false, isEdited: comment.updatedAt != comment.createdAt,
                createdAt: try ForgeTime.date(comment.createdAt), place: .line)
        }
            + reviews.compactMap { review in
                guard let body = review.body, !body.isEmpty, let submitted = review.submittedAt,
                    let submittedAt = try? ForgeTime.date(submitted), submittedAt >= date
                else { return nil }
                return ForgeRemark(
                    id: review.id, change: change, body: body,
                    author: ForgeUser(login: review.user?.login ?? "", id: review.user?.id),
                    isBot: review.user?.isBot ?? false, isEdited: false, createdAt: submittedAt, place: .review)
            }
    }
}
