import Archive
import BuildBox
import Foundation

/// The bounded document about one run that an agent can act on: the one place that knows where it comes from.
struct RunBundle {
    enum Format: String, CaseIterable, Sendable {
        case markdown, json
    }

    let state: StateFolder
    let run: RunID
    /// Whether the run may still go on.
    var isEarly = false

    func text(_ format: Format, bytes: Int) async throws -> String {
        let document = try await document()
        switch format {
        case .markdown: return document.render(.markdown, options: RenderOptions(markdownLimit: bytes))
        case .json: return document.render(.json)
        }
    }

    /// From the archive; of a run that goes on or waits for a person, as far as there is one.
    func document() async throws -> ReportDocument {
        let loader = try ReportLoader(state)
        if isEarly, let early = try await early() { return early }
        do { return try await loader.document(run) } catch let error as ArchiveError where error.code == .unknownRun {
            if let early = try await early() { return early }
            let held = try? await ask(.run(run)) { if case .run(let detail) = $0 { detail.held } else { nil } }
            if let held { return ReportDocument(report: held) }
            // It may have ended in between.
            return try await loader.document(run)
        }
    }

    private func early() async throws -> ReportDocument? {
        try? await ask(.early(run)) { reply in if case .early(let early) = reply { early?.document } else { nil } }
    }

    private func ask<Answer: Sendable>(_ request: BoxRequest, _ pick: (BoxReply) -> Answer?) async throws -> Answer? {
        let client = try await DaemonClient<BoxRequest, BoxReply>.connect(path: state.socket)
        return try await client.ask(request).flatMap(pick)
    }
}
