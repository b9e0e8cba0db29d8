import ForgeConnection
import Foundation
import Reports

extension CommentMark {
    /// The mark of a remark of a review.
    func text(of remark: ReviewState.Remark, change: Int) -> String {
        text("remark \(project) \(change) \(remark.fingerprint)", change)
    }
}

/// A comment in the lists of all forges.
struct ForgeComment: Decodable, Sendable {
    var id: Int
    var body: String?

    /// The remark that the comment is, by the fingerprint for its mark.
    func remark(_ marks: [String: String]) -> (String, SaidRemark)? {
        guard let body, let mark = body.split(separator: "\n").first.map(String.init), let fingerprint = marks[mark]
        else { return nil }
        return (fingerprint, SaidRemark(id: "\(id)", isSettled: RemarkText.isSettled(body, mark: mark)))
    }

    /// The oldest of `comments` that begins with `mark`.
    static func oldest(_ comments: [ForgeComment], marked mark: String) -> ForgeComment? {
        comments.filter { $0.body?.hasPrefix(mark) == true }.min { $0.id < $1.id }
    }
}

/// How comments are created, updated and found at one kind of forge.
struct CommentPaths: Sendable {
    var list: String
    var create: String
    /// The path without the comment's number, which follows it.
    var update: String
    var updateMethod: ForgeRequest.Method
    /// The largest comment, in bytes.
    var limit: Int
}

extension ForgeSession {
    /// Makes the single comment on a change say `state`.
    func show(_ state: CommentState, after past: ForgePast, at paths: CommentPaths) async throws -> String? {
        try await show(state.body, marked: mark.text(state.change), isNews: state.isNews, after: past, at: paths)
    }

    /// Makes the single comment that begins with `mark` say `text`. Without a comment, it makes one only if `isNews`.
    func show(_ text: String, marked mark: String, isNews: Bool, after past: ForgePast, at paths: CommentPaths)
        async throws -> String?
    {
        struct Body: Encodable { var body: String }
        let body = Body(body: MarkdownText.cut("\(mark)\n\(text)", bytes: paths.limit))
        var known = past.known
        if known == nil, past.isUncertain {
            let comments =
                address.kind == .gitea || address.kind == .forgejo
                ? try await send(.get(paths.list)).decode([ForgeComment].self)
                : try await pages(paths.list, of: ForgeComment.self)
            known = ForgeComment.oldest(comments, marked: mark).map { "\($0.id)" }
        }
        if let id = known {
            do {
                _ = try await send(.send(paths.updateMethod, "\(paths.update)/\(id)", body))
                return id
            } catch let error as ForgeError where error.code == .notFound {
                // A person deleted the comment. Only news is worth a new one.
            }
        }
        guard isNews else { return nil }
        let made = try await send(.send(.post, paths.create, body)).decode(ForgeComment.self)
        return "\(made.id)"
    }
}
