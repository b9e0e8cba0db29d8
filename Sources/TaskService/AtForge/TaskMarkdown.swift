import Foundation
import Reports
import Results
import TerminalText

/// What is said of a task at a forge. Words of people, agents and reports are foreign text there: they can't mention
/// anybody, close an issue or break out of their place.
struct TaskMarkdown {
    /// Lines of a plan, and of a task's own words, that are shown.
    static let mostLines = 60
    /// Files that are listed.
    static let mostFiles = 50

    let task: TaskRecord
    /// All events so far, in their order.
    let events: [TaskEvent]

    // MARK: The change

    /// One line. A forge makes a commit message of it, so it must close nothing and be no draft.
    var title: String {
        let words = TerminalText.name(task.title, limit: 180)
            .replacing(/[#!](?=[0-9])/, with: "no. ").replacing(/@(?=\S)/, with: "at ")
            .replacing(/GH-(?=[0-9])/.ignoresCase(), with: "no. ")
        return "Task \(task.id): \(words)"
    }

    /// The text of the change: the plan, what was done, how it was tested.
    var body: String {
        var parts = ["\(origin)\n"]
        if let plan = plan { parts.append(planned(plan, heading: "Plan")) }
        if let made { parts.append(done(made)) }
        if let tested { parts.append(tested) }
        parts.append(
            """
            ## What you can do

            - A comment or a review of somebody who may write is a remark: the agent works on it.
            - `/pipectl land` lands the change once it has passed, `/pipectl refuse` ends the task.
            - A commit on top of the branch is yours: the agent writes to the branch no more.

            """)
        return parts.joined(separator: "\n")
    }

    private var origin: String {
        var text = "Made for task \(task.id)"
        if let reporter = task.reporter { text += ", asked for by \(MarkdownText.inline(reporter, limit: 100))" }
        if case .issue(let number) = task.source { text += ", issue #\(number)" }
        text += ".\n"
        if let crash = task.crash {
            text += "\nCrash: \(MarkdownText.code(crash.title, limit: 200))"
            if let release = crash.release { text += " in \(MarkdownText.code(release, limit: 60))" }
            text += crash.count > 1 ? ", reported \(crash.count) times.\n" : ".\n"
        }
        return text + "\n" + Self.prose(task.text, lines: 20)
    }

    // MARK: The issue

    /// What the comment at the task's issue says, and whether somebody waits for it.
    var note: (body: String, isNews: Bool) {
        var text = "**Task \(task.id): \(task.state.title)**"
        if !task.reason.isEmpty { text += ". \(MarkdownText.inline(task.reason, limit: 300))" }
        text += "\n"
        if task.state == .planWaits, let plan {
            text += "\n" + planned(plan, heading: "Plan")
            text += """

                Somebody who may write decides: `/pipectl approve plan \(plan.version)`, `/pipectl remark TEXT` for another \
                plan, or `/pipectl refuse`.

                """
        }
        if let change = changeWords { text += "\n- change: \(change)\n" }
        if let commit = task.landedCommit { text += "- landed as `\(commit.prefix(10))`\n" }
        if let release = task.release { text += "- released in \(MarkdownText.code(release, limit: 60))\n" }
        for place in deliveries { text += "- delivered: \(MarkdownText.inline(place, limit: 100))\n" }
        return (text, task.state.waitsForPerson || task.state.isEnded)
    }

    private var changeWords: String? {
        guard let name = task.change else { return nil }
        return Int(name) != nil && task.changeLink != nil ? task.changeLink : MarkdownText.code(name, limit: 200)
    }

    private var deliveries: [String] {
        events.compactMap { if case .delivered(_, let place) = $0.what { place } else { nil } }
    }

    // MARK: Parts

    /// The newest plan.
    private var plan: TaskPlan? {
        events.reversed().lazy.compactMap { if case .planned(let plan, _) = $0.what { plan } else { nil } }.first
    }

    /// The try that is offered, else the newest.
    private var made: TaskTry? {
        let tries = events.compactMap { if case .made(let made) = $0.what { made } else { nil } }
        let chosen = events.reversed().lazy.compactMap {
            if case .chosen(let attempt, _) = $0.what { attempt } else { nil }
        }.first
        return tries.last { $0.attempt == chosen } ?? tries.last
    }

    private func planned(_ plan: TaskPlan, heading: String) -> String {
        let approval = events.reversed().lazy.compactMap { event -> String? in
            guard case .planApproved(plan.version, let reason) = event.what else { return nil }
            if let person = event.by { return "approved by \(MarkdownText.inline(person, limit: 100))" }
            return reason.map { MarkdownText.inline($0, limit: 200) }
        }.first
        var text = "## \(heading), version \(plan.version)\(approval.map { ": \($0)" } ?? "")\n\n"
        text += Self.prose(plan.summary, lines: 10) + "\n" + Self.prose(plan.approach, lines: Self.mostLines)
        if !plan.files.isEmpty { text += "\nFiles: \(Self.list(plan.files))\n" }
        if !plan.tests.isEmpty {
            text += "\nTests:\n\n" + plan.tests.prefix(20).map { "- \(MarkdownText.inline($0))\n" }.joined()
        }
        if !plan.tradeoffs.allSatisfy(\.isWhitespace) {
            text += "\nTrade-offs: \(Self.prose(plan.tradeoffs, lines: 20))"
        }
        return text
    }

    private func done(_ made: TaskTry) -> String {
        var text = "## What was done\n\n"
        if let summary = made.summary { text += Self.prose(summary, lines: 20) + "\n" }
        text +=
            "By \(MarkdownText.inline(made.agent, limit: 60)): +\(made.additions) −\(made.deletions) in "
            + "\(Self.list(made.files)).\n"
        if !made.unplanned.isEmpty { text += "\n**Outside of the plan:** \(Self.list(made.unplanned))\n" }
        return text
    }

    /// How the offered try was tested; nil if nothing is known yet.
    private var tested: String? {
        guard let made else { return nil }
        var lines: [String] = []
        for event in events {
            switch event.what {
            case .reproduced(let run, made.attempt, let tests):
                let names = tests.prefix(10).map { MarkdownText.code($0, limit: 150) }.joined(separator: ", ")
                lines.append(
                    "- fails on the target without the change (run \(run)), passes with it: \(names)"
                        + (tests.count > 10 ? " and \(tests.count - 10) more" : ""))
            case .checked(let run, made.attempt, let verdict, let reason):
                let why = reason.isEmpty ? "" : ": \(MarkdownText.inline(reason, limit: 200))"
                lines.append("- run \(run): \(verdict.title)\(why)")
            default: break
            }
        }
        guard !lines.isEmpty else { return nil }
        return "## How it was tested\n\n\(lines.suffix(40).joined(separator: "\n"))\n"
    }

    private static func list(_ paths: [String]) -> String {
        guard !paths.isEmpty else { return "no file" }
        let shown = paths.prefix(mostFiles).map { MarkdownText.code($0, limit: 200) }.joined(separator: ", ")
        return paths.count > mostFiles ? "\(shown) and \(paths.count - mostFiles) more" : shown
    }

    /// Foreign words line by line: what has a meaning in Markdown or at a forge becomes code.
    static func prose(_ text: String, lines limit: Int) -> String {
        var shown: [String] = []
        let lines = text.split(separator: "\n", maxSplits: 5_000).filter { !$0.allSatisfy(\.isWhitespace) }
        for line in lines.prefix(limit) {
            let trimmed = line.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
            if let bullet = trimmed.prefixMatch(of: /[-*] +/) {
                shown.append("- \(MarkdownText.inline(String(trimmed[bullet.range.upperBound...]), limit: 500))")
            } else {
                // A paragraph of its own, so that the line before can't be a list or a heading.
                shown.append("\n\(MarkdownText.inline(String(trimmed), limit: 500))\n")
            }
        }
        if lines.count > limit { shown.append("\n… \(lines.count - limit) more lines\n") }
        return shown.isEmpty ? "" : shown.joined(separator: "\n").replacing(/\n{3,}/, with: "\n\n") + "\n"
    }
}
