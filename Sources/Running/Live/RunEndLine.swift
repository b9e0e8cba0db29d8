import Results
import TerminalText
import Foundation

/// The log line that says how a run ended, with a command that shows more.
enum RunEndLine {
    /// Nil while the run has neither a verdict nor a question.
    static func text(_ run: IndexedRun) -> String? {
        let summary = run.summary
        let what = "\(summary.repository): run \(run.id) \(summary.workflow), \(run.request.subjectInWords)"
        if let why = summary.heldFor {
            return line("\(what): needs approval: \(why)") + "; \(Approval.command(run.id))"
        }
        guard let verdict = summary.verdict else { return nil }
        let time = summary.duration.map { " in \(Figures.duration($0))" } ?? ""
        let reason = summary.reason.map { ": \($0)" } ?? ""
        let next = verdict == .passed ? "" : "; pipectl show \(run.id)"
        return line("\(what): \(verdict.title)\(time)\(reason)") + next
    }

    /// The reason may quote a step's output.
    private static func line(_ text: String) -> String { TerminalText.name(text, limit: 400) }
}
