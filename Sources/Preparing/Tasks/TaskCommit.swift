package import Results
import TerminalText

/// The names that commits and refs of tasks have.
package enum TaskCommit {
    package static let name = "pipectl task"
    /// The trailer at the end of a commit's message.
    package static let trailer = "Pipectl-Task"
    /// The refs of tries in the daemon's own store, below which each task has a folder.
    package static let refs = "refs/pipectl/tasks/"

    /// The ref that keeps a try.
    package static func ref(of task: TaskID, attempt: Int) -> String { "\(refs)\(task)/\(attempt)" }

    /// The ref that keeps the target with the tests of a try.
    package static func testsRef(of task: TaskID, attempt: Int) -> String { "\(refs)\(task)/\(attempt)-tests" }

    /// The ref that keeps what an agent had tested while it worked.
    package static func draftRef(of task: TaskID, attempt: Int) -> String { "\(refs)\(task)/\(attempt)-draft" }

    /// The message of a try's commit. The title may be a stranger's, so it is one line.
    package static func message(_ task: TaskRecord, _ role: TaskRole) -> String {
        """
        \(TerminalText.name(task.title, limit: 72))

        \(trailer): \(task.id), work \(role.attempt)

        """
    }
}
