package import Results

/// Why a request about a task can't be met: a sentence that says what to do next.
package enum TaskFailure: Error, Sendable, Equatable {
    /// No task has this number.
    case unknown(TaskID)
    /// The repository's target declares no tasks.
    case notDeclared(repository: String, branch: String)
    /// The task is in a state in which this can't be done.
    case wrongState(TaskID, TaskState, wanted: String)
}
