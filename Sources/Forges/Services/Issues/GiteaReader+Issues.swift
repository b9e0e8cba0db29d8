import ChangeOpening
import ForgeConnection
import Foundation

/// Source: https://docs.gitea.com/api/ (issueListIssues, repoListPullReviews)
extension GiteaReader: ForgeIssueReading {
    /// Reviews whose comments are read, the newest ones.
    private static let mostReviews = 20

    private struct User: Decodable {
        var login: String
        var id: Int
    }

    private struct Issue: Decodable {
        struct Label: Decodable { var name: String }
        struct Pull: Decodable {}
        var number: Int
        var title: String
        var body: String?
        var state: String
        var user: User?
        var labels: [Label]?
        var htmlUrl: String?
        var updatedAt: String
        var pullRequest: Pull?

        func issue() throws -> ForgeIssue {
            ForgeIssue(
                number: number, title: title, body: body ?? "",
                author: ForgeUser(login: user?.login ?? "", id: user?.id), labels: (labels ?? []).map(\.name),
                isOpen: state == "open", link: ForgeSession.link(htmlUrl), updatedAt: try ForgeTime.date(updatedAt))
        }
    }

    func issue(_ number: Int) async throws -> ForgeIssue? {
        let found = try await session.find(.get("\(root)/issues/\(number)"))?.decode(Issue.self)
        guard let found, found.pullRequest == nil else { return nil }
        return try found.issue()
    }

    func issues(since date: Date, etag: String?) async throws -> (issues: [ForgeIssue], etag: String?)? {
        let query = ["state": "all", "type": "issues", "since": ForgeTime.text(date)]
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

    private struct Review: Decodable {
        var id: Int
        var body: String?
        var user: User?
        var state: String?
        var commentsCount: Int?
        var submittedAt: String?
    }

    private struct LineComment: Decodable {
        var id: Int
        var body: String?
        var path: String?
        var position: Int?
        var user: User?
        var createdAt: String
        var updatedAt: String
    }

    func reviewRemarks(of change: Int, since date: Date) async throws -> [ForgeRemark] {
        let path = "\(root)/pulls/\(change)/reviews"
        let reviews = try await session.pages(path, of: Review.self).filter { review in
            guard review.state != "PENDING", let submitted = review.submittedAt else { return false }
            return (try? ForgeTime.date(submitted)).map { $0 >= date } ?? false
        }
        var remarks: [ForgeRemark] = []
        for review in reviews.suffix(Self.mostReviews) {
            if let body = review.body, !body.isEmpty, let submitted = review.submittedAt {
                remarks.append(
                    ForgeRemark(
                        id: review.id, change: change, body: body,
                        author: ForgeUser(login: review.user?.login ?? "", id: review.user?.id),
                        isBot: (review.user?.id ?? 0) <= 0, isEdited: false,
                        createdAt: try ForgeTime.date(submitted), place: .review))
            }
            guard review.commentsCount ?? 0 > 0 else { continue }
            remarks += try await session.send(.get("\(path)/\(review.id)/comments")).decode([LineComment].self).map {
                comment in
                ForgeRemark(
                    id: comment.id, change: change,
                    body: ForgeRemark.text(comment.body ?? "", path: comment.path, line: comment.position),
                    author: ForgeUser(login: comment.user?.login ?? "", id: comment.user?.id),
                    isBot: (comment.user?.id ?? 0) <= 0, isEdited: comment.updatedAt != comment.createdAt,
                    createdAt: try ForgeTime.date(comment.createdAt), place: .line)
            }
        }
        return remarks
    }
}
