import ForgeConnection
import Foundation
import Results

/// GitLab: commit statuses, and a note on the merge request.
///
/// Source: https://docs.gitlab.com/api/commits/#set-commit-pipeline-status and https://docs.gitlab.com/api/notes/
struct GitLabService: ForgeService, ForgeMergeService, ForgeReviewService {
    let session: ForgeSession
    var root: String { "/projects/\(ForgeRequest.part(session.address.project))" }

    func identity() async throws -> ForgeIdentity {
        struct User: Decodable { var username: String }
        let answer = try await session.send(.get("/user"))
        let user = try answer.decode(User.self)
        let remedy = "use a project token with the role Developer and the scope \"api\""
        let isDeveloper = try await session.mayWrite() ?? true
        let hasScope = try await hasScope()
        return ForgeIdentity(
            login: user.username,
            permissions: [
                ForgePermission(
                    name: "api", purpose: "show verdicts as commit statuses, comment and publish releases",
                    isGranted: hasScope,
                    remedy: remedy),
                ForgePermission(
                    name: "Developer", purpose: "write to commits of the project and publish releases",
                    isGranted: isDeveloper,
                    remedy: remedy),
            ], rateLimit: ForgeRateLimit(answer.headers))
    }

    /// Source: https://docs.gitlab.com/api/personal_access_tokens/#get-details-on-a-personal-access-token
    private func hasScope() async throws -> Bool {
        struct Token: Decodable { var scopes: [String] }
        struct Status: Encodable { var state: String, name: String }
        do {
            return try await session.send(.get("/personal_access_tokens/self")).decode(Token.self).scopes.contains(
                "api")
        } catch let error as ForgeError where [.notFound, .refused, .forbidden].contains(error.code) {
            // A GitLab before 15.5, or a token of another kind: only a try tells.
            return try await session.mayDo(
                .send(
                    .post, "\(root)/statuses/\(ForgeSession.noCommit)",
                    Status(state: "pending", name: "pipectl/connect")))
        }
    }

    func show(_ state: CheckState, after past: ForgePast) async throws -> String? {
        struct Body: Encodable {
            var state: String
            var name: String
            var targetUrl: String?
            var description: String
        }
        struct Status: Decodable {
            var status: String
            var name: String?
            var description: String?
        }
        let body = Body(
            state: Self.state(state), name: state.name,
            targetUrl: state.link.flatMap { $0.utf8.count <= 255 ? $0 : nil },
            description: ForgeText.line(state.title, limit: 140))
        if past.isUncertain {
            let found = try await session.send(
                .get("\(root)/repository/commits/\(state.commit)/statuses", ["name": state.name, "all": "true"])
            ).decode([Status].self)
            if let newest = found.last, newest.status == body.state, newest.description == body.description {
                return nil
            }
        }
        do {
            _ = try await session.send(.send(.post, "\(root)/statuses/\(state.commit)", body))
        } catch let error as ForgeError
            where error.code == .refused && error.description.contains("Cannot transition status")
        {
            // The commit has this state already; GitLab accepts no new description for it.
        }
        return nil
    }

    static func state(_ state: CheckState) -> String {
        switch (state.phase, state.verdict) {
        case (.queued, _): "pending"
        case (.running, _), (_, nil), (_, .needsApproval): "running"
        case (_, .passed), (_, .flaky), (_, .notApplicable): "success"
        case (_, .superseded), (_, .cancelled): "canceled"
        case (_, .failed), (_, .conflict), (_, .definitionError), (_, .infrastructure): "failed"
        }
    }

    func show(_ state: CommentState, after past: ForgePast) async throws -> String? {
        let path = "\(root)/merge_requests/\(state.change)/notes"
        return try await session.show(
            state, after: past,
            at: CommentPaths(list: path, create: path, update: path, updateMethod: .put, limit: 900_000))
    }
}
