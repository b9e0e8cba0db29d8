public import Foundation

/// One thing that happened to a task. All of them, in order, are its history; the state follows from them.
public struct TaskEvent: Sendable, Equatable, Codable {
    public var task: TaskID
    /// From 1, without gaps, in the order in which they were recorded.
    public var number: Int
    public var at: Date
    /// Who did it, in words; nil: pipectl.
    public var by: String?
    public var what: What

    public init(task: TaskID, number: Int, at: Date, by: String? = nil, what: What) {
        self.task = task
        self.number = number
        self.at = at
        self.by = by
        self.what = what
    }

    /// What happened.
    public enum What: Sendable, Equatable, Codable {
        case created
        /// The same crash was reported again.
        case seenAgain(count: Int, release: String?)
        case planned(plan: TaskPlan, run: RunID)
        /// The agent's answer was no plan.
        case planFailed(run: RunID, reason: String)
        /// What a person, or a comment at the forge, says to a plan, to work that goes on, or to the change.
        case remark(text: String)
        /// `version` is that of the plan.
        case planApproved(version: Int, reason: String?)
        case planRefused(version: Int, reason: String?)
        /// An agent's try ended with a commit.
        case made(attempt: TaskTry)
        /// An agent's try ended without one.
        case tryFailed(agent: String, attempt: Int, run: RunID, reason: String)
        /// The tests of a try, alone on the target.
        case reproduced(run: RunID, attempt: Int, tests: [String])
        case notReproduced(run: RunID, attempt: Int, reason: String)
        /// A workflow's run, or a review, of a try ended.
        case checked(run: RunID, attempt: Int, verdict: Verdict, reason: String)
        /// The try that is offered.
        case chosen(attempt: Int, reason: String)
        case changeOpened(name: String, link: String?, commit: String)
        case landingAsked
        case landingFailed(reason: String)
        case landed(commit: String)
        case released(version: String, run: RunID)
        case delivered(version: String, to: String)
        /// The reporter was told something.
        case told(what: String)
        case rulesProposed(patch: String)
        case gaveUp(reason: String)
        case refused(reason: String?)
        case cancelled(reason: String?)
        case answered(reason: String)
        /// The crash was seen in a release that has the change.
        case reopened(reason: String)
    }
}

/// What an agent made in one try.
public struct TaskTry: Sendable, Equatable, Codable {
    /// Counts over all agents of the task, from 1.
    public var attempt: Int
    public var agent: String
    public var run: RunID
    /// The commit, and the ref that keeps it in the daemon's own repository.
    public var commit: String
    public var ref: String
    public var files: [String]
    public var additions: Int
    public var deletions: Int
    /// The files that the approved plan does not name.
    public var unplanned: [String]
    /// The agent's last words.
    public var summary: String?
    /// Remarks that came while the agent worked and that it has not read.
    public var unread: Int?

    public init(
        attempt: Int, agent: String, run: RunID, commit: String, ref: String, files: [String], additions: Int,
        deletions: Int, unplanned: [String], summary: String?
    ) {
        self.attempt = attempt
        self.agent = agent
        self.run = run
        self.commit = commit
        self.ref = ref
        self.files = files
        self.additions = additions
        self.deletions = deletions
        self.unplanned = unplanned
        self.summary = summary
    }
}
