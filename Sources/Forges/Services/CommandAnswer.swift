import ForgeConnection
import Foundation
import Reports

/// How a command in a comment is answered: by a reaction, and where there is something to say by a comment.
struct CommandAnswer: Sendable, Equatable, Codable {
    /// The number of the change or the issue.
    var change: Int
    /// Whether ``change`` is an issue; nil: it is not.
    var isAtIssue: Bool?
    /// The comment that held the command.
    var comment: Int
    var isObeyed: Bool
    /// One sentence without its full stop; may quote foreign text.
    var text: String

    /// The comment that answers, which begins with `mark`.
    func body(_ mark: String) -> String {
        "\(mark)\n\(isObeyed ? "👍" : "👎") \(MarkdownText.inline(text, limit: 1_000))"
    }
}

extension ForgeSession {
    /// Answers a command in a comment. Repeating it changes nothing.
    func show(_ answer: CommandAnswer, after past: ForgePast) async throws -> String? {
        struct Reaction: Encodable { var content: String }
        struct Body: Encodable { var body: String }
        let content = answer.isObeyed ? "+1" : "-1"
        let root =
            address.kind == .gitlab
            ? "/projects/\(ForgeRequest.part(address.project))/\(answer.isAtIssue == true ? "issues" : "merge_requests")/\(answer.change)"
            : "/repos/\(address.project)/issues"
        if address.kind != .gitlab {
            // The same reaction twice is one.
            _ = try await send(.send(.post, "\(root)/comments/\(answer.comment)/reactions", Reaction(content: content)))
            if answer.isObeyed { return nil }
        }
        let list = address.kind == .gitlab ? "\(root)/notes" : "\(root)/\(answer.change)/comments"
        let mark = mark.answer(to: answer.comment, change: answer.change)
        if past.isUncertain {
            let comments =
                address.kind == .gitea || address.kind == .forgejo
                ? try await send(.get(list)).decode([ForgeComment].self)
                : try await pages(list, of: ForgeComment.self)
            if let known = ForgeComment.oldest(comments, marked: mark) { return "\(known.id)" }
        }
        let made = try await send(.send(.post, list, Body(body: answer.body(mark)))).decode(ForgeComment.self)
        return "\(made.id)"
    }
}
