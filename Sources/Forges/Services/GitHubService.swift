import Foundation
import Results

/// GitHub, in the cloud or self-hosted: check runs with a GitHub App, commit statuses with a token.
///
/// Source: https://docs.github.com/en/rest/checks/runs and https://docs.github.com/en/rest/commits/statuses
struct GitHubService: ForgeService, ForgeMergeService, ForgeReviewService {
    /// The most annotations of one request, and of one check run.
    static let annotationsAtOnce = 50
    static let mostAnnotations = 250
    /// The largest summary of a check run, in bytes. GitHub's limit is 65,535 characters.
    static let summaryLimit = 65_000

    let session: ForgeSession
    var root: String { "/repos/\(session.address.project)" }

    func identity() async throws -> ForgeIdentity {
        session.isApp ? try await appIdentity() : try await tokenIdentity()
    }

    func show(_ state: CheckState, after past: ForgePast) async throws -> String? {
        session.isApp
            ? try await showCheckRun(state, after: past) : try await showStatus(state, after: past)
    }

    func show(_ state: CommentState, after past: ForgePast) async throws -> String? {
        let path = "\(root)/issues/\(state.change)/comments"
        return try await session.show(
            state, after: past,
            at: CommentPaths(
                list: path, create: path, update: "\(root)/issues/comments", updateMethod: .patch, limit: 65_000))
    }

    // MARK: Identity

    private func appIdentity() async throws -> ForgeIdentity {
        struct App: Decodable { var slug: String }
        struct Installation: Decodable { var permissions: [String: String] }
        guard let authorization = try await session.appAuthorization() else { return try await tokenIdentity() }
        let app = try await session.client.send(.get("/app"), authorization: authorization).decode(App.self)
        let granted = try await session.client.send(.get("\(root)/installation"), authorization: authorization)
            .decode(Installation.self).permissions
        let wanted = [
            ("checks", "write", "show verdicts as checks"), ("pull_requests", "write", "comment on pull requests"),
            ("contents", "read", "read commits"), ("metadata", "read", "find the repository"),
        ]
        let permissions = wanted.map { name, level, purpose in
            let has = granted[name]
            return ForgePermission(
                name: "\(name): \(level)", purpose: purpose,
                isGranted: has == level || has == "write" || has == "admin",
                remedy: "give the App \"\(name): \(level)\" in its settings and accept the change where it is installed"
            )
        }
        return ForgeIdentity(login: "\(app.slug)[bot]", permissions: permissions)
    }

    private func tokenIdentity() async throws -> ForgeIdentity {
        struct Status: Encodable { var state: String, context: String }
        struct Comment: Encodable { var body: String }
        _ = try await session.send(.get(root))
        let statuses = try await session.mayDo(
            .send(
                .post, "\(root)/statuses/\(ForgeSession.noCommit)", Status(state: "pending", context: "pipectl/connect")
            ))
        let comments = try await session.mayDo(
            .send(
                .patch, "\(root)/issues/comments/\(ForgeSession.noComment)",
                Comment(body: "pipectl tries whether it may comment.")))
        return ForgeIdentity(
            login: "the token's owner",
            permissions: [
                ForgePermission(
                    name: "commit statuses: write", purpose: "show verdicts as commit statuses", isGranted: statuses,
                    remedy: "use a token with this permission, of a person who may push to \(session.address.project)"),
                ForgePermission(
                    name: "pull requests: write", purpose: "comment on pull requests", isGranted: comments,
                    remedy: "use a token with this permission"),
            ])
    }

    // MARK: Statuses

    private func showStatus(_ state: CheckState, after past: ForgePast) async throws -> String? {
        struct Body: Codable, Equatable {
            var state: String
            var targetUrl: String?
            var description: String?
            var context: String
        }
        let body = Body(
            state: Self.statusState(state), targetUrl: state.link,
            description: ForgeText.line(state.title, limit: 140), context: state.name)
        if past.isUncertain {
            // The newest status is first.
            let newest = try await session.send(
                .get("\(root)/commits/\(state.commit)/statuses", ["per_page": "100"])
            ).decode([Body].self).first { $0.context == body.context }
            if newest == body { return past.known }
        }
        _ = try await session.send(.send(.post, "\(root)/statuses/\(state.commit)", body))
        return past.known
    }

    static func statusState(_ state: CheckState) -> String {
        switch state.verdict {
        case nil, .needsApproval: "pending"
        case .passed, .flaky, .notApplicable: "success"
        case .failed, .conflict, .definitionError: "failure"
        case .infrastructure, .superseded, .cancelled: "error"
        }
    }
}
