package import Results

/// Who asks for something about a task.
package struct TaskActor: Sendable, Equatable {
    /// In words: `ada`, `@ada at GitHub`.
    package var name: String
    /// Whether it is an agent. Agents may hand over work and read about it; they never decide.
    package var isAgent: Bool
    /// The task in whose run the agent works. It sees no other.
    package var ownTask: TaskID?

    package init(_ name: String, isAgent: Bool = false, ownTask: TaskID? = nil) {
        (self.name, self.isAgent, self.ownTask) = (name, isAgent || ownTask != nil, ownTask)
    }

    /// pipectl itself, on behalf of a source such as a scheduled run.
    package static let pipectl = TaskActor("pipectl")

    /// - Throws: ``TaskFailure/needsPerson(wanted:)`` for an agent.
    func requirePerson(to verb: String) throws(TaskFailure) {
        if isAgent { throw .needsPerson(wanted: verb) }
    }

    /// - Throws: ``TaskFailure/unknown(_:)`` for an agent that works on another task.
    func requireSight(of task: TaskID) throws(TaskFailure) {
        if let ownTask, ownTask != task { throw .unknown(task) }
    }
}
