package import Results

/// What the runs of a task's agents need to know of it.
package struct TaskHistory: Sendable {
    package var record: @Sendable (TaskID) async throws -> TaskRecord?
    /// Oldest first.
    package var events: @Sendable (TaskID) async throws -> [TaskEvent]

    package init(
        record: @escaping @Sendable (TaskID) async throws -> TaskRecord?,
        events: @escaping @Sendable (TaskID) async throws -> [TaskEvent]
    ) {
        self.record = record
        self.events = events
    }

    /// No tasks are known.
    package static let none = TaskHistory(record: { _ in nil }, events: { _ in [] })

    /// The name of the task's file in which pipectl has put what it found out about a crash, in Markdown. It goes into
    /// prompts; the other files are shown to the agent as they are.
    package static let contextFile = "context.md"
}
