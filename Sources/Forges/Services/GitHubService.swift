import Foundation
import Results

/// GitHub, in the cloud or self-hosted: check runs with a GitHub App, commit statuses with a token.
///
/// Source: https://docs.github.com/en/rest/checks/runs and https://docs.github.com/en/rest/commits/statuses
struct GitHubService: ForgeService, ForgeMergeService {
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

    // MARK: Check runs

    private struct CheckRun: Decodable {
        var id: Int
        var externalId: String?
        var output: Output?
        struct Output: Decodable { var annotationsCount: Int? }
    }

    private struct CheckBody: Encodable {
        struct Output: Encodable {
            var title: String
            var summary: String
            var annotations: [Annotation]?
        }
        struct Annotation: Encodable {
            var path: String
            var startLine: Int
            var endLine: Int
            var annotationLevel: String
            var title: String
            var message: String
        }
        var name: String
        var headSha: String?
        var externalId: String
        var detailsUrl: String?
        var status: String
        var conclusion: String?
        var startedAt: String?
        var completedAt: String?
        var output: Output
    }

    /// Another run at the same commit gets a check run of its own, like GitHub's re-runs: annotations can be added to a
    /// check run but not removed.
    func showCheckRun(_ state: CheckState, after past: ForgePast) async throws -> String? {
        let external = "\(session.address.project) run \(state.run)"
        // RUN:ID of the check run that was created last.
        let parts = past.known?.split(separator: ":").map(String.init) ?? []
        var id = parts.count == 2 && parts[0] == "\(state.run)" ? Int(parts[1]) : nil
        var sent: Int?
        if id == nil, past.isUncertain {
            struct List: Decodable { var checkRuns: [CheckRun] }
            let found = try await session.send(
                .get(
                    "\(root)/commits/\(state.commit)/check-runs",
                    ["check_name": state.name, "filter": "all", "per_page": "100"])
            ).decode(List.self).checkRuns.first { $0.externalId == external }
            (id, sent) = (found?.id, found?.output?.annotationsCount)
        } else if let id, past.isUncertain, !state.annotations.isEmpty {
            sent = try await session.send(.get("\(root)/check-runs/\(id)")).decode(CheckRun.self).output?
                .annotationsCount
        }
        let annotations = Array(state.annotations.prefix(Self.mostAnnotations).dropFirst(sent ?? 0))
        var batches = stride(from: 0, to: annotations.count, by: Self.annotationsAtOnce).map {
            Array(annotations[$0..<min($0 + Self.annotationsAtOnce, annotations.count)])
        }
        if batches.isEmpty { batches = [[]] }
        for batch in batches {
            let body = body(state, external: external, annotations: batch, isNew: id == nil)
            let request =
                try id.map { try ForgeRequest.send(.patch, "\(root)/check-runs/\($0)", body) }
                ?? ForgeRequest.send(.post, "\(root)/check-runs", body)
            id = try await session.send(request).decode(CheckRun.self).id
        }
        return id.map { "\(state.run):\($0)" }
    }

    private func body(
        _ state: CheckState, external: String, annotations: [CheckState.Annotation], isNew: Bool
    ) -> CheckBody {
        CheckBody(
            name: state.name, headSha: isNew ? state.commit : nil, externalId: external, detailsUrl: state.link,
            status: Self.status(state.phase), conclusion: state.verdict.map(Self.conclusion),
            startedAt: state.startedAt?.formatted(.iso8601), completedAt: state.endedAt?.formatted(.iso8601),
            output: CheckBody.Output(
                title: ForgeText.line(state.title, limit: 255),
                summary: ForgeText.cut(state.summary.isEmpty ? state.title : state.summary, bytes: Self.summaryLimit),
                annotations: annotations.isEmpty ? nil : annotations.map(Self.annotation)))
    }

    private static func annotation(_ annotation: CheckState.Annotation) -> CheckBody.Annotation {
        let level =
            switch annotation.severity {
            case .error: "failure"
            case .warning: "warning"
            case .note: "notice"
            }
        return CheckBody.Annotation(
            path: annotation.path, startLine: annotation.line, endLine: annotation.line, annotationLevel: level,
            title: ForgeText.line(annotation.title, limit: 255),
            message: ForgeText.cut(annotation.message, bytes: 60_000))
    }

    static func status(_ phase: CheckState.Phase) -> String {
        switch phase {
        case .queued: "queued"
        case .running: "in_progress"
        case .ended: "completed"
        }
    }

    /// The conclusion of a check run. A flaky run is neutral, which allows merging; the title says that it was flaky.
    static func conclusion(_ verdict: Verdict) -> String {
        switch verdict {
        case .passed: "success"
        case .flaky: "neutral"
        case .failed, .conflict, .definitionError, .infrastructure: "failure"
        case .superseded, .cancelled: "cancelled"
        case .needsApproval: "action_required"
        case .notApplicable: "skipped"
        }
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
