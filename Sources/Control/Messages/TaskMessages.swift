public import Results

/// A request about tasks.
public enum TaskCommand: Sendable, Codable {
    /// Make a task; `isForAgent` if an agent asks.
    case add(TaskDraft, isForAgent: Bool)
    /// Approve the plan with this version, which is the one that was seen.
    case approve(TaskID, version: Int, reason: String?)
    /// Say something to a plan, to an agent that works, or to a change that is ready.
    case remark(TaskID, String)
    /// Refuse the plan or the change. The task ends.
    case refuse(TaskID, reason: String?)
    /// Stop all work on the task. It ends.
    case cancel(TaskID, reason: String?)
    /// Put the change that is ready into the merge queue, if the commit that is offered is still the one that was seen;
    /// nil: whichever is offered.
    case land(TaskID, commit: String?)
    case show(TaskID)
    case list(TaskFilter)
    /// What a try changes; nil: the one that is offered, else the newest.
    case difference(TaskID, attempt: Int?)
    /// The task now, and again after each change of it, until it ends or nobody asks any more.
    case follow(TaskID)
}

/// An answer to a ``TaskCommand``.
public enum TaskReply: Sendable, Codable, Equatable {
    /// `isNew` is false if there was a task for the same work.
    case added(TaskRecord, isNew: Bool)
    /// The task after what was asked for.
    case task(TaskView)
    case list([TaskRecord])
    /// A unified difference, of limited size.
    case difference(String)
}

/// A task with everything that happened to it.
public struct TaskView: Sendable, Codable, Equatable {
    public var task: TaskRecord
    /// In the order in which they happened.
    public var events: [TaskEvent]
    /// The runs of its agents and checks, oldest first.
    public var runs: [RunSummary]

    public init(task: TaskRecord, events: [TaskEvent], runs: [RunSummary]) {
        self.task = task
        self.events = events
        self.runs = runs
    }

    /// The plan that was made last.
    public var plan: TaskPlan? { plans.last }

    /// All plans, in the order of their versions.
    public var plans: [TaskPlan] {
        events.compactMap { if case .planned(let plan, _) = $0.what { plan } else { nil } }
    }

    /// What agents made, in the order in which they ended.
    public var tries: [TaskTry] {
        events.compactMap { if case .made(let made) = $0.what { made } else { nil } }
    }

    /// The try that is offered.
    public var chosen: TaskTry? {
        let attempt = events.lazy.compactMap { if case .chosen(let attempt, _) = $0.what { attempt } else { nil } }
            .last
        return tries.last { $0.attempt == attempt }
    }
}
