import Results
import Reports

/// Writes the single comment on a change: what is wrong with the newest push, or one line that it passed.
public enum CommentRenderer {
    /// The largest part of a comment that one run's report may take, in bytes.
    static let reportLimit = 20_000

    /// - Parameters:
    ///   - change: The change's number at the forge.
    ///   - runs: The newest run of each workflow at the change's newest push, ended or not.
    ///   - circumstances: What else concerns the change. A conflict is worth a comment; a place in a queue alone is not.
    /// - Returns: Nil while the runs have not all ended.
    public static func comment(
        _ change: Int, runs: [ForgeRunFacts], circumstances: ChangeCircumstances = ChangeCircumstances()
    ) -> CommentState? {
        guard let (body, isNews) = text(runs) else { return nil }
        var state = CommentState(
            change: change, body: body + circumstances.markdown, isNews: isNews || !circumstances.conflicts.isEmpty)
        state.about = circumstances.key
        return state
    }

    private static func text(_ runs: [ForgeRunFacts]) -> (body: String, isNews: Bool)? {
        let ended = runs.filter { $0.summary.state == .ended }
        let bad = ended.filter { isNews($0.summary.verdict) }
            .sorted {
                ($0.summary.verdict?.severity ?? 0, $1.summary.id) > ($1.summary.verdict?.severity ?? 0, $0.summary.id)
            }
        guard !bad.isEmpty else {
            // While a run may still fail, an older comment stays unchanged.
            guard ended.count == runs.count, !ended.isEmpty else { return nil }
            return (ended.map(line).joined(separator: "\n") + "\n", false)
        }
        var parts: [String] = []
        for facts in bad {
            guard let document = facts.document else {
                parts.append(line(facts) + "\n")
                continue
            }
            let report = document.render(.markdown, options: RenderOptions(markdownLimit: reportLimit))
            parts.append(report + (facts.link.map { "\nThe run's page: <\($0)>\n" } ?? ""))
        }
        let others = runs.filter { facts in !bad.contains { $0.summary.id == facts.summary.id } }
        if !others.isEmpty { parts.append(others.map(line).joined(separator: "\n") + "\n") }
        return (parts.joined(separator: "\n"), true)
    }

    /// Whether a verdict is worth a new comment.
    private static func isNews(_ verdict: Verdict?) -> Bool {
        switch verdict {
        case .failed, .conflict, .definitionError, .flaky, .infrastructure: true
        case nil, .passed, .superseded, .cancelled, .needsApproval, .notApplicable: false
        }
    }

    private static func run(_ facts: ForgeRunFacts) -> String {
        facts.link.map { "[run \(facts.summary.id)](<\($0)>)" } ?? "run \(facts.summary.id)"
    }

    private static func line(_ facts: ForgeRunFacts) -> String {
        let summary = facts.summary
        let word = summary.verdict?.title ?? (summary.state == .queued ? "queued" : "running")
        return
            "- \(MarkdownText.code(summary.workflow)): \(word) at \(String(summary.head.prefix(10))) (\(run(facts)))"
    }
}
