/// The part of a run in a task.
public struct TaskRole: Sendable, Equatable, Codable {
    /// What the run is for.
    public enum Part: String, Sendable, Codable {
        /// An agent makes a plan; the files are read-only.
        case planning
        /// An agent edits the files.
        case working
        /// The tests of a try run on the target, where they must fail.
        case reproducing
        /// A workflow runs on the target as it is: what is red there says nothing about a try.
        case comparing
        /// A workflow runs on what an agent made.
        case checking
        /// An agent reviews it.
        case reviewing
    }

    public var task: TaskID
    public var part: Part
    /// The try that it makes or is about, from 1; of a planning run, the number of the plan.
    public var attempt: Int
    /// The agent that works in it; nil where none does.
    public var agent: String?
    /// The workflow that runs in it; nil where an agent works.
    public var workflow: String?
    /// The try whose commit a working run begins with; nil: the target's tip.
    public var base: Int?
    /// How often the same was begun before without a result, because the build box failed or a person cancelled it.
    public var repetition: Int?

    public init(
        task: TaskID, part: Part, attempt: Int, agent: String? = nil, workflow: String? = nil, base: Int? = nil,
        repetition: Int? = nil
    ) {
        self.task = task
        self.part = part
        self.attempt = attempt
        self.agent = agent
        self.workflow = workflow
        self.base = base
        self.repetition = repetition
    }

    /// What makes a second request for the same run find the first.
    public var nonce: String {
        inWords + (workflow.map { " in \($0)" } ?? "") + (repetition.map { ", again \($0)" } ?? "")
    }

    /// Whether an agent works in it rather than a workflow.
    public var isOfAgent: Bool { part == .planning || part == .working || part == .reviewing }

    /// `work 2 of task 12`.
    public var inWords: String {
        switch part {
        case .planning: "plan \(attempt) of task \(task)"
        case .working: "work \(attempt) of task \(task)"
        case .reproducing: "reproduction for work \(attempt) of task \(task)"
        case .comparing: "run of the target for work \(attempt) of task \(task)"
        case .checking: "check of work \(attempt) of task \(task)"
        case .reviewing: "review of work \(attempt) of task \(task)"
        }
    }
}

/// The result of a run that was part of a task, as its report has it.
public struct TaskOutcome: Sendable, Equatable, Codable {
    public var role: TaskRole
    /// What a planning agent answered.
    public var plan: TaskPlan?
    /// What a working agent made.
    public var made: TaskTry?
    /// Why there is neither.
    public var reason: String?
    /// What the agent used, where it tells it.
    public var spent: TaskSpending?
    /// Remarks that came while the agent worked and that it has not read.
    public var unread: Int?

    public init(role: TaskRole) { self.role = role }
}
