import ForgeConnection
import Foundation
import Results

/// Gitea and Forgejo: commit statuses, and a comment on the pull request.
///
/// Source: https://docs.gitea.com/api/ and https://forgejo.org/docs/latest/user/api-usage/
struct GiteaService: ForgeService, ForgeMergeService, ForgeReviewService {
    let session: ForgeSession
    var root: String { "/repos/\(session.address.project)" }

    func identity() async throws -> ForgeIdentity {
        struct User: Decodable { var login: String }
        struct Status: Encodable { var state: String, context: String }
        struct Comment: Encodable { var body: String }
        let answer = try await session.send(.get("/user"))
        let user = try answer.decode(User.self)
        // It tells a person's role, but nothing of a token's scopes.
        var statuses = try await session.mayWrite() ?? true
        if statuses {
            statuses = try await session.mayDo(
                .send(
                    .post, "\(root)/statuses/\(ForgeSession.noCommit)",
                    Status(state: "pending", context: "pipectl/connect")))
        }
        let comments = try await session.mayDo(
            .send(
                .patch, "\(root)/issues/comments/\(ForgeSession.noComment)",
                Comment(body: "pipectl tries whether it may comment.")))
        return ForgeIdentity(
            login: user.login,
            permissions: [
                ForgePermission(
                    name: "write:repository", purpose: "show verdicts as commit statuses and publish releases",
                    isGranted: statuses,
                    remedy: "use a token with this scope, of somebody who may write to \(session.address.project)"),
                ForgePermission(
                    name: "write:issue", purpose: "comment on pull requests", isGranted: comments,
                    remedy: "use a token with this scope"),
            ], rateLimit: ForgeRateLimit(answer.headers))
    }

    func show(_ state: CheckState, after past: ForgePast) async throws -> String? {
        struct Body: Encodable {
            var state: String
            var context: String
            var description: String
            var targetUrl: String?
        }
        struct Status: Decodable {
            var status: String
            var context: String
            var description: String?
        }
        let body = Body(
            state: Self.state(state), context: state.name, description: ForgeText.line(state.title, limit: 140),
            targetUrl: state.link)
        if past.isUncertain {
            let newest = try await session.send(
                .get("\(root)/statuses/\(state.commit)", ["sort": "highestindex", "limit": "50"])
            ).decode([Status].self).first { $0.context == body.context }
            if let newest, newest.status == body.state, newest.description == body.description { return nil }
        }
        _ = try await session.send(.send(.post, "\(root)/statuses/\(state.commit)", body))
        return nil
    }

    static func state(_ state: CheckState) -> String {
        switch state.verdict {
        case nil, .needsApproval: "pending"
        case .passed, .notApplicable: "success"
        case .flaky: "warning"
        case .failed, .conflict, .definitionError: "failure"
        case .infrastructure, .superseded, .cancelled: "error"
        }
    }

    func show(_ state: CommentState, after past: ForgePast) async throws -> String? {
        let path = "\(root)/issues/\(state.change)/comments"
        return try await session.show(
            state, after: past,
            at: CommentPaths(
                list: path, create: path, update: "\(root)/issues/comments", updateMethod: .patch, limit: 65_000))
    }
}
