package import Control
package import Results
import TerminalText

/// Why a request about a task can't be met: a sentence that says what to do next.
package enum TaskFailure: Error, Sendable, Equatable {
    /// No task has this number, or the agent that asks may not see it.
    case unknown(TaskID)
    /// The repository's target declares no tasks.
    case notDeclared(repository: String, branch: String)
    /// The task is in a state in which this can't be done.
    case wrongState(TaskID, TaskState, wanted: String)
    /// Only a person may do this.
    case needsPerson(wanted: String)
    /// The plan that was approved is not the newest.
    case otherPlan(TaskID, version: Int?)
    /// Another commit is offered than the one that was looked at.
    case otherCommit(TaskID, commit: String)
    /// Something is missing, too long or too large; a whole sentence.
    case unusable(String)

    /// The same for whoever asked.
    package var requestError: RequestError {
        switch self {
        case .unknown(let id): RequestError(.unknownTask, "no task \(id); `pipectl task list` lists them")
        case .notDeclared(let repository, let branch):
            RequestError(
                .noTasks,
                "\(repository) declares no tasks. Add `static let tasks = Tasks(into: \"\(branch)\", by: .claude, "
                    + "mustPass: [test])` to its WorkflowSet, and let that land first")
        case .wrongState(let id, let state, let wanted):
            RequestError(
                .wrongTaskState, "task \(id) is \(state.title), so it can't be \(wanted); `pipectl task show \(id)`")
        case .needsPerson(let wanted):
            RequestError(.needsPerson, "only a person may \(wanted) a task; ask one to do it")
        case .otherPlan(let id, let version?):
            RequestError(
                .wrongTaskState,
                "the plan of task \(id) is at version \(version) now; look at it, then approve that version")
        case .otherPlan(let id, nil):
            RequestError(.wrongTaskState, "task \(id) has no plan yet; `pipectl task watch \(id)` waits for it")
        case .otherCommit(let id, let commit):
            RequestError(
                .wrongTaskState,
                "task \(id) offers commit \(commit.prefix(10)) now; look at it, then land that one")
        case .unusable(let sentence): RequestError(.usage, sentence)
        }
    }
}
