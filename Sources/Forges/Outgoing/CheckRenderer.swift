public import Reports
public import Results
import TerminalText

/// The facts about a run from which its check is written.
public struct ForgeRunFacts: Sendable {
    /// The run's row of the store.
    public var summary: RunSummary
    /// Ended steps and all steps of a live run; nil if unknown.
    public var progress: (ended: Int, all: Int)?
    /// The report of an ended run, if the archive has it.
    public var document: ReportDocument?
    /// The run's page; nil if there is none.
    public var link: String?

    public init(
        summary: RunSummary, progress: (ended: Int, all: Int)? = nil, document: ReportDocument? = nil,
        link: String? = nil
    ) {
        self.summary = summary
        self.progress = progress
        self.document = document
        self.link = link
    }
}

/// Renders what a forge shows of a run. All text of the change is escaped for Markdown.
public enum CheckRenderer {
    /// The most annotations that are sent.
    static let mostAnnotations = GitHubService.mostAnnotations

    /// The state to show for a run.
    public static func check(_ facts: ForgeRunFacts) -> CheckState {
        let summary = facts.summary
        var state = CheckState(
            workflow: summary.workflow, commit: summary.head, run: summary.id, phase: phase(summary),
            verdict: verdict(summary), title: title(facts), link: facts.link)
        state.startedAt = summary.startedAt
        state.endedAt = summary.endedAt
        if let document = facts.document {
            state.summary = document.render(.markdown)
            state.annotations = annotations(document)
        }
        return state
    }

    private static func phase(_ summary: RunSummary) -> CheckState.Phase {
        switch summary.state {
        // A run that waits for approval is shown as one that requires an action.
        case .queued: summary.heldFor == nil ? .queued : .ended
        case .running: .running
        case .ended: .ended
        }
    }

    private static func verdict(_ summary: RunSummary) -> Verdict? {
        summary.state == .queued && summary.heldFor != nil ? .needsApproval : summary.verdict
    }

    /// One sentence; forges show it as plain text.
    static func title(_ facts: ForgeRunFacts) -> String {
        let summary = facts.summary
        let text =
            switch (summary.state, summary.verdict) {
            case (.queued, _):
                if let why = summary.heldFor { "needs approval: \(why)" } else { "queued as run \(summary.id)" }
            case (.running, _):
                facts.progress.map { "\($0.ended) of \($0.all) steps done" } ?? "run \(summary.id) started"
            case (.ended, .passed?):
                summary.reason.map { "passed: \($0)" } ?? "passed"
            case (.ended, .superseded?):
                summary.supersededBy.map { "superseded by run \($0) of a newer push" } ?? "superseded by a newer push"
            case (.ended, let verdict):
                [verdict?.title, summary.reason].compactMap { $0 }.joined(separator: ": ")
            }
        return TerminalText.name(text, limit: 1_000)
    }

    /// Failed tests and findings that have a file of the repository and a line; errors first.
    static func annotations(_ document: ReportDocument) -> [CheckState.Annotation] {
        var found: [CheckState.Annotation] = []
        for test in document.tests where test.status.isFailure {
            guard let path = usable(test.file), let line = test.line, line > 0 else { continue }
            found.append(
                CheckState.Annotation(
                    path: path, line: line, severity: .error, title: TerminalText.name("\(test.id) failed", limit: 200),
                    message: text([test.message, test.details])))
        }
        for finding in document.report.findings {
            guard let path = usable(finding.file), let line = finding.line, line > 0 else { continue }
            found.append(
                CheckState.Annotation(
                    path: path, line: line, severity: finding.severity,
                    title: TerminalText.name(finding.rule, limit: 200),
                    message: text([finding.message, finding.excerpt, finding.suggestion])))
        }
        var seen: Set<String> = []
        let unique = found.filter { seen.insert("\($0.path):\($0.line) \($0.title) \($0.message)").inserted }
        let rank: [Finding.Severity: Int] = [.error: 0, .warning: 1, .note: 2]
        return Array(
            unique.enumerated().sorted {
                (rank[$0.element.severity] ?? 3, $0.offset) < (rank[$1.element.severity] ?? 3, $1.offset)
            }.map(\.element).prefix(mostAnnotations))
    }

    /// A path inside the repository, in the form that forges require; nil for any other.
    private static func usable(_ path: String?) -> String? {
        guard let path, !path.isEmpty, !path.hasPrefix("/"), path.utf8.count <= 1_000,
            !path.split(separator: "/", omittingEmptySubsequences: false).contains(where: {
                $0 == ".." || $0 == "." || $0.isEmpty
            }),
            path.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { return nil }
        return path
    }

    /// GitHub shows an annotation's message as plain text. It needs no escaping, but must not contain control
    /// characters.
    private static func text(_ parts: [String?]) -> String {
        let joined = parts.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "\n")
        let clean = TerminalText.clean(Array(joined.utf8.prefix(8_000)), colours: false, lineLimit: 1_000)
        let text = ForgeText.cut(clean, bytes: 4_000)
        return text.isEmpty ? "failed" : text
    }
}
