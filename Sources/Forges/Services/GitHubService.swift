import ForgeConnection
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
