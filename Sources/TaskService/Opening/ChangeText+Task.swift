import Results
import Tasks
import TerminalText

extension ChangeText {
    /// What the change of a task says: the plan, what was done, how it was tested.
    init(of made: TaskTry, _ known: TaskFacts.Known) {
        let task = known.task
        var parts: [String] = []
        if let plan = known.events.lazy.compactMap({ if case .planned(let plan, _) = $0.what { plan } else { nil } })
            .last
        {
            parts.append("## Plan\n\n\(Self.quoted(plan.summary))\n\n\(Self.quoted(plan.approach))")
            if !plan.tradeoffs.isEmpty { parts.append("Trade-offs:\n\n\(Self.quoted(plan.tradeoffs))") }
        }
        var done = [
            "## What was done", "\(made.files.count) files, +\(made.additions) −\(made.deletions), by \(made.agent)",
        ]
        if let summary = made.summary, !summary.isEmpty { done.append(Self.quoted(summary)) }
        if !made.unplanned.isEmpty {
            done.append(
                "Outside of the plan:\n\n" + made.unplanned.map { "- `\(Self.code($0))`" }.joined(separator: "\n"))
        }
        parts.append(done.joined(separator: "\n\n"))
        parts.append("## How it was tested\n\n" + Self.tests(of: made, known))
        parts.append(
            "Task \(task.id) of pipectl" + (task.reporter.map { ", asked for by \(Self.code($0))" } ?? "") + ".")
        self.init(title: TerminalText.name(task.title, limit: 200), body: parts.joined(separator: "\n\n") + "\n")
    }

    private static func tests(of made: TaskTry, _ known: TaskFacts.Known) -> String {
        var lines: [String] = []
        for event in known.events {
            switch event.what {
            case .reproduced(let run, made.attempt, let tests):
                lines.append(
                    "- Without the change, run \(run) fails: "
                        + tests.prefix(10).map { "`\(code($0))`" }.joined(separator: ", "))
            case .checked(let run, made.attempt, let verdict, _):
                let role = known.runs.first { $0.id == run }?.role
                let what = role?.part == .reviewing ? "Review" : "`\(code(role?.workflow ?? "check"))`"
                lines.append("- \(what): \(verdict.title), run \(run)")
            default: break
            }
        }
        return lines.isEmpty ? "Not at all." : lines.joined(separator: "\n")
    }

    /// Text of an agent, as a quotation that can't end early or address anybody.
    private static func quoted(_ text: String) -> String {
        TerminalText.lines(String(text.prefix(8_000))).split(separator: "\n", omittingEmptySubsequences: false)
            .map { "> " + $0.replacing("<", with: "&lt;").replacing("@", with: "@\u{200B}") }.joined(separator: "\n")
    }

    private static func code(_ text: String) -> String {
        TerminalText.name(text, limit: 200).replacing("`", with: "'")
    }
}
