import Foundation
import Reports
package import Results
package import TaskText

/// Tasks as aligned columns.
package enum TaskTable {
    /// Those that wait for a person first.
    ///
    /// - Parameter width: The terminal's width in columns. The title is cut so that rows fit; nil for no limit.
    package static func text(_ tasks: [TaskRecord], colour: Bool, width: Int? = nil) -> String {
        let sorted = tasks.filter(\.state.waitsForPerson) + tasks.filter { !$0.state.waitsForPerson }
        let rows = sorted.map { task in
            [
                "\(task.id)", task.state.title, task.repository, Figures.age(of: task.createdAt, at: Date()),
                task.title, TaskWords.source(of: task),
            ]
        }
        return TextTable.text(
            ["task", "state", "repository", "when", "title", "from"], rows,
            limit: width.map { TextTable.Limit(column: 4, least: 12, width: $0) }
        ) { row, column in colour && column == 1 ? code(sorted[row].state) : nil }
    }

    private static func code(_ state: TaskState) -> String {
        if state.waitsForPerson { return Wording.colour(Verdict.needsApproval) }
        switch state {
        case .refused, .cancelled, .givenUp: return Wording.colour(Verdict.failed)
        case .landed, .released, .delivered, .answered: return Wording.colour(Verdict.passed)
        default: return "2"
        }
    }

    /// The sign of a station, in its colour.
    package static func signed(_ stage: TaskStage, colour: Bool) -> String {
        guard colour else { return stage.sign }
        let code =
            switch stage.state {
            case .done: Wording.colour(Verdict.passed)
            case .failed: Wording.colour(Verdict.failed)
            case .waits: Wording.colour(Verdict.needsApproval)
            case .underWay: "36"
            case .open, .skipped: "2"
            }
        return "\u{1b}[\(code)m\(stage.sign)\u{1b}[0m"
    }
}
