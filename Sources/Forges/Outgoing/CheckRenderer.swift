import Diagnostics
import Pipeline
import Reports
import Results
import TerminalText

/// Renders what a forge shows of a run. All text of the change is escaped for Markdown.
enum CheckRenderer {
    /// The most annotations that are sent.
    static let mostAnnotations = GitHubService.mostAnnotations

    /// The state to show for a run.
    static func check(_ facts: ForgeRunFacts) -> CheckState {
        let summary = facts.summary
        var state = CheckState(
            workflow: summary.workflow, commit: summary.head, run: summary.id, phase: phase(summary),
            verdict: verdict(summary), title: title(facts), link: facts.link)
        state.startedAt = summary.startedAt
        state.endedAt = summary.endedAt
        if facts.hasButtons { state.actions = actions(facts) }
        if let document = facts.document {
            state.summary = document.render(.markdown)
            state.annotations = annotations(document, facts.delta)
        } else if summary.state == .running {
            state.summary = progress(facts.steps)
        }
        return state
    }

    /// The buttons that can do something for the run as it is.
    static func actions(_ facts: ForgeRunFacts) -> [CheckState.Action] {
        let summary = facts.summary
        if summary.heldFor != nil, summary.state != .ended { return [.approve] }
        guard summary.state == .ended else { return [] }
        switch summary.verdict {
        case .failed, .infrastructure:
            // Without a failed step there is nothing to continue with.
            let hasFailedStep = facts.document?.report.steps.contains { $0.status.isFailure } ?? false
            return hasFailedStep ? [.rerun, .rerunFailed] : [.rerun]
        case .passed, .flaky, .cancelled, .definitionError: return [.rerun]
        case .needsApproval: return [.approve]
        // A superseded run has a newer one; a conflict and a trigger that does not match need another push.
        case nil, .superseded, .conflict, .notApplicable: return []
        }
    }

    /// The steps so far, those that failed first, then those that run; at most a hundred.
    static func progress(_ steps: [ForgeRunFacts.Step]) -> String {
        func rank(_ status: StepStatus) -> Int {
            if status.isFailure { return 0 }
            if status == .running { return 1 }
            return status.isFinal ? 2 : 3
        }
        let ordered = steps.enumerated().sorted {
            (rank($0.element.status), $0.offset) < (rank($1.element.status), $1.offset)
        }.map(\.element)
        var lines = ordered.prefix(100).map { step in
            let time = step.seconds.map { ", \(Figures.duration($0))" } ?? ""
            return
                "- \(Wording.symbol(step.status)) \(MarkdownText.code(step.name)) \(Wording.title(step.status))\(time)"
        }
        if ordered.count > 100 { lines.append("- and \(ordered.count - 100) more") }
        return lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n"
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
                if let why = summary.heldFor {
                    "needs approval: \(why)"
                } else if facts.steps.isEmpty {
                    "run \(summary.id) started"
                } else {
                    "\(facts.steps.count { $0.status.isFinal }) of \(facts.steps.count) steps done"
                }
            case (.ended, .passed?):
                summary.reason.map { "passed: \($0)" } ?? "passed"
            case (.ended, .superseded?):
                summary.supersededBy.map { "superseded by run \($0) of a newer push" } ?? "superseded by a newer push"
            case (.ended, let verdict):
                [verdict?.title, summary.reason].compactMap { $0 }.joined(separator: ": ")
            }
        return TerminalText.name(text, limit: 1_000)
    }

    /// Failed tests and findings that have a file of the repository and a line: those on lines of the change first, then
    /// those in its files; errors first among each.
    ///
    /// Lines are those of the head, where the forge shows them. What a review says has comments of its own.
    static func annotations(_ document: ReportDocument, _ delta: ChangeDelta? = nil) -> [CheckState.Annotation] {
        var found: [CheckState.Annotation] = []
        func add(_ file: String?, _ line: Int?, _ severity: Finding.Severity, _ title: String, _ texts: [String?]) {
            guard let path = usable(file), let line, line > 0 else { return }
            found.append(
                CheckState.Annotation(
                    path: path, line: line, severity: severity, title: TerminalText.name(title, limit: 200),
                    message: text(texts)))
        }
        for test in document.tests where test.status.isFailure {
            add(test.file, test.line, .error, "\(test.id) failed", [test.message, test.details])
        }
        for finding in document.report.findings where !ReviewRenderer.isSaid(finding, in: document.report, delta) {
            add(
                finding.file, finding.line, finding.severity, finding.rule,
                [finding.message, finding.excerpt, finding.suggestion])
        }
        var seen: Set<String> = []
        let unique = found.filter { seen.insert("\($0.path):\($0.line) \($0.title) \($0.message)").inserted }
        let severities: [Finding.Severity: Int] = [.error: 0, .warning: 1, .note: 2]
        let ranked = unique.enumerated().map { offset, annotation in
            var annotation = annotation
            var distance = 0
            if let delta {
                let isShown = delta.place(annotation.path, tested: annotation.line) != nil
                distance = isShown ? 0 : delta.touches(annotation.path) ? 1 : 2
                annotation.line = delta.headLine(annotation.path, tested: annotation.line) ?? annotation.line
            }
            return (rank: (distance, severities[annotation.severity] ?? 3, offset), annotation: annotation)
        }
        return Array(ranked.sorted { $0.rank < $1.rank }.map(\.annotation).prefix(mostAnnotations))
    }

    /// A path inside the repository, in the form that forges require; nil for any other.
    static func usable(_ path: String?) -> String? {
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
