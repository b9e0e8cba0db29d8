import ForgeConnection
import Foundation
import Reports
import Results

/// Check runs, which only an App may write.
extension GitHubService {
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
        struct Action: Encodable {
            var label: String
            var description: String
            var identifier: String
        }
        var name: String
        var headSha: String?
        var externalId: String
        var detailsUrl: String?
        var status: String
        var conclusion: String?
        var startedAt: String?
        var completedAt: String?
        /// Always sent: a button of an earlier state must not stay.
        var actions: [Action]
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
            actions: state.actions.map(Self.action),
            output: CheckBody.Output(
                title: ForgeText.line(state.title, limit: 255),
                summary: Self.summary(state),
                annotations: annotations.isEmpty ? nil : annotations.map(Self.annotation)))
    }

    /// The title is no Markdown, the summary is.
    static func summary(_ state: CheckState) -> String {
        let text = state.summary.isEmpty ? MarkdownText.inline(state.title, limit: 1_000) : state.summary
        return MarkdownText.cut(text, bytes: summaryLimit)
    }

    /// GitHub's limits: 20 characters of label and identifier, 40 of description.
    private static func action(_ action: CheckState.Action) -> CheckBody.Action {
        let (label, description) =
            switch action {
            case .rerun: ("Re-run", "Run this workflow once more")
            case .rerunFailed: ("Re-run failed", "Run the failed steps once more")
            case .approve: ("Approve", "Approve what this run waits for")
            }
        return CheckBody.Action(label: label, description: description, identifier: action.rawValue)
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
}
