package import Results

/// What is to be done next for a task.
package enum TaskNext: Sendable, Equatable {
    /// A run of the task is live, or a person is to answer.
    case wait(TaskState, reason: String)
    /// Something has happened that is not in the history yet. Then the question is asked again.
    case record(TaskEvent.What)
    /// Runs are to begin; those that exist already are left alone.
    case begin([TaskRole], TaskState, reason: String)
    /// The commit of this try is to become a change.
    case open(TaskTry)
    /// What happens to the change is to be looked at: its merge queue, releases, deliveries.
    case follow
    /// Nothing more follows.
    case done
}
