import Foundation
public import Results
import TerminalText

/// A task as lines for people. The lines are safe to show on a terminal.
public struct TaskReport: Sendable {
    let story: TaskStory
    /// Shows the sign of a station, such as in its colour.
    let signed: @Sendable (TaskStage) -> String

    public init(_ story: TaskStory, signed: @escaping @Sendable (TaskStage) -> String = { $0.sign }) {
        (self.story, self.signed) = (story, signed)
    }

    /// What it is, its way, the plan, what was done, and what a person may do.
    public var text: String {
        let task = story.task
        var lines = ["task \(task.id) of \(name(task.repository)): \(name(task.state.title))", name(task.title, 500)]
        if !task.reason.isEmpty { lines.append(name(task.reason, 1_000)) }
        if let link = task.changeLink { lines.append(name(link, 500)) }
        lines.append("")
        lines += Self.wayLines(story.stages, signed: signed)
        if task.text != task.title, !task.text.isEmpty { lines += ["", "Asked for"] + quoted(task.text, most: 40) }
        if let crash = task.crash { lines += ["", "Crash"] + crashLines(crash) }
        if let plan = story.plan { lines += ["", "Plan, version \(plan.version)"] + indented(PlanWords.lines(plan)) }
        if let made = story.offered { lines += ["", "What was done"] + tryLines(made) }
        if !story.openRemarks.isEmpty {
            lines += ["", "Remarks that are not answered yet"]
            for event in story.openRemarks { lines.append("  " + sentence(event)) }
        }
        if let rules = story.proposedRules {
            lines += ["", "A rule for the instructions of agents, which nothing has applied"] + quoted(rules, most: 60)
        }
        let spent = TaskWords.spent(task.spent)
        if !spent.isEmpty { lines += ["", "Used: \(spent)"] }
        let next = TaskWords.next(task, plan: story.plan)
        if !next.isEmpty { lines += [""] + next.enumerated().map { ($0 == 0 ? "Next: " : "  or: ") + $1 } }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Everything that happened, a line each.
    public var history: [String] { story.events.map(sentence) }

    /// The stations as aligned lines.
    public static func wayLines(
        _ stages: [TaskStage], signed: (TaskStage) -> String = { $0.sign }
    ) -> [String] {
        let width = stages.map(\.name.rawValue.count).max() ?? 0
        return stages.map { stage in
            let title = stage.name.rawValue
            let time = stage.at.map { Figures.dateAndTime($0) }
            let after = stage.seconds.map { "+\(Figures.duration($0.rounded()))" }
            let facts = [time ?? stage.stateInWords, after, stage.text.isEmpty ? nil : stage.text].compactMap { $0 }
            let run = stage.run.map { "  (run \($0))" } ?? ""
            let padding = String(repeating: " ", count: width - title.count)
            return
                "\(signed(stage)) \(title)\(padding)  \(TerminalText.name(facts.joined(separator: "  "), limit: 1_000))\(run)"
        }
    }

    /// An event with its time and who did it.
    public func sentence(_ event: TaskEvent) -> String {
        name(
            "\(Figures.dateAndTime(event.at))  \(event.by.map { "\($0): " } ?? "")\(TaskWords.sentence(event.what))",
            2_000)
    }

    private func crashLines(_ crash: TaskCrash) -> [String] {
        var lines = ["  \(name(crash.title, 500))"]
        for frame in crash.frames.prefix(8) {
            let place = frame.file.map { " at \($0)" + (frame.line.map { ":\($0)" } ?? "") } ?? ""
            lines.append(name("    \(frame.function)\(place)", 500))
        }
        return lines
    }

    private func tryLines(_ made: TaskTry) -> [String] {
        var lines = [name("  \(TaskWords.size(of: made))", 500)]
        if let summary = made.summary { lines += quoted(summary, most: 20) }
        for file in made.files.prefix(30) {
            lines.append(name("    \(file)\(made.unplanned.contains(file) ? "  (not in the plan)" : "")", 500))
        }
        if made.files.count > 30 { lines.append("    and \(made.files.count - 30) more") }
        for event in story.checks(of: made.attempt) {
            lines.append(name("  \(TaskWords.sentence(event.what))", 1_000))
        }
        if story.tries.count > 1 {
            lines.append(
                "  others: "
                    + name(story.tries.filter { $0 != made }.map(TaskWords.size).joined(separator: "; "), 1_000))
        }
        return lines
    }

    private func name(_ text: String, _ limit: Int = 200) -> String { TerminalText.name(text, limit: limit) }

    /// Foreign text of several lines, each indented.
    private func quoted(_ text: String, most: Int) -> [String] {
        var lines = text.foreignLines
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        return indented(Array(lines.prefix(most)))
            + (lines.count > most ? ["  and \(lines.count - most) more lines"] : [])
    }

    private func indented(_ lines: [String]) -> [String] { lines.map { $0.isEmpty ? "" : "  \(name($0, 2_000))" } }
}
