import ForgeConnection
import Diagnostics
import Foundation

/// Source: https://docs.gitea.com/api/ (repoCreatePullReview, issueEditComment)
extension GiteaService {
    private struct Review: Decodable {
        var id: Int
        var body: String?
        var commentsCount: Int?
    }

    func findRemarks(_ change: Int, marks: [String: String]) async throws -> [String: SaidRemark] {
        var said: [String: SaidRemark] = [:]
        let path = "\(root)/pulls/\(change)/reviews"
        for review in try await session.pages(path, of: Review.self).sorted(by: { $0.id < $1.id }) {
            for line in (review.body ?? "").split(separator: "\n") {
                guard let fingerprint = marks[String(line)], said[fingerprint] == nil else { continue }
                said[fingerprint] = SaidRemark()
            }
            guard review.commentsCount ?? 0 > 0 else { continue }
            for (fingerprint, remark) in try await remarks(of: review.id, change, marks) where said[fingerprint] == nil
            {
                said[fingerprint] = remark
            }
        }
        return said
    }

    private func remarks(of review: Int, _ change: Int, _ marks: [String: String]) async throws -> [String: SaidRemark]
    {
        let path = "\(root)/pulls/\(change)/reviews/\(review)/comments"
        let comments = try await session.send(.get(path)).decode([ForgeComment].self)
        return Dictionary(comments.compactMap { $0.remark(marks) }, uniquingKeysWith: { one, _ in one })
    }

    func say(_ remarks: [ReviewState.Remark], of state: ReviewState) async throws -> [String: SaidRemark] {
        struct Body: Encodable {
            var commitId: String
            var event = "COMMENT"
            var body: String
            var comments: [Comment]
            struct Comment: Encodable {
                var path: String
                var body: String
                var newPosition: Int
                var oldPosition = 0
            }
        }
        let texts = RemarkText(mark: session.mark, state: state)
        var said: [String: SaidRemark] = [:]
        var rest = remarks[...]
        while !rest.isEmpty {
            let (batch, others) = RemarkText.batch(rest)
            rest = others
            let comments = batch.compactMap { remark in
                remark.place.map {
                    Body.Comment(path: $0.path, body: texts.open(remark, suggestion: nil), newPosition: $0.line)
                }
            }
            let unplaced = batch.filter { $0.place == nil }.map { texts.open($0, suggestion: nil) }
            let head =
                "The review of `\(state.commit.prefix(10))` has \(batch.count) new "
                + "finding\(batch.count == 1 ? "" : "s")."
            let body = Body(
                commitId: state.commit, body: ([head] + unplaced).joined(separator: "\n\n"), comments: comments)
            let made = try await session.send(.send(.post, "\(root)/pulls/\(state.change)/reviews", body))
                .decode(Review.self)
            for remark in batch { said[remark.fingerprint] = SaidRemark() }
            guard !comments.isEmpty else { continue }
            let marks = Dictionary(
                batch.map { (session.mark.text(of: $0, change: state.change), $0.fingerprint) },
                uniquingKeysWith: { one, _ in one })
            said.merge(try await self.remarks(of: made.id, state.change, marks)) { _, made in made }
        }
        return said
    }

    /// The API can't resolve a conversation, so the comment's text says that it is resolved.
    func settle(_ remark: ReviewState.Remark, _ said: SaidRemark, of state: ReviewState) async throws {
        struct Body: Encodable { var body: String }
        guard let id = said.id else { return }
        let texts = RemarkText(mark: session.mark, state: state)
        let body = remark.isSettled ? texts.settled(remark) : texts.open(remark, suggestion: nil)
        _ = try await session.send(.send(.patch, "\(root)/issues/comments/\(id)", Body(body: body)))
    }
}
