package import Results

/// What is to be done next for a task.
package enum TaskNext: Sendable, Equatable {
    /// A run of the task is live, or a person is to answer.
    case wait(TaskState, reason: String)
    /// Runs are to begin; those that exist already are left alone.
    case begin([TaskRole])
    /// The commit of this try is to become a change.
    case open(TaskTry)
    /// The task ends.
    case end(TaskState, reason: String)
}
