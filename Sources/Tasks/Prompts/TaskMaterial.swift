package import Pipeline
package import Results

/// Everything that the agents of a task are told; ``TaskPrompt`` makes a text of it.
///
/// The initialiser takes what the task's history says. Whoever starts the run adds what must be read from files, Git or
/// the archive.
package struct TaskMaterial: Sendable {
    /// What a person said about a plan, about the work or about the change.
    package struct Remark: Sendable, Equatable {
        package var by: String?
        package var text: String
        /// The version of the newest plan and the number of the newest try when it was said; nil: there was none.
        package var plan: Int?
        package var attempt: Int?
    }

    /// A try that ended, and what was wrong with it.
    package struct Earlier: Sendable, Equatable {
        package var attempt: Int
        package var agent: String
        /// Nil where the try ended without a commit.
        package var made: TaskTry?
        /// What was wrong, one sentence each.
        package var problems: [String] = []
        /// The difference that it made, as `git diff` prints it.
        package var patch: String?
        /// The bundle of the run that did not pass, in Markdown.
        package var bundle: String?
        /// What the reviewer found and did not withdraw.
        package var findings: [ReviewFinding] = []
    }

    package var task: TaskRecord
    /// The newest plan, and whether a person approved it.
    package var plan: TaskPlan?
    package var isApproved = false
    /// Why the newest answer to the planning prompt was no plan.
    package var planProblem: String?
    /// Oldest first.
    package var remarks: [Remark] = []
    package var tries: [Earlier] = []

    /// The try whose files are in the workspace; nil: the target's tip.
    package var base: Int?
    /// The instructions of the repository for agents, from the target: ``AgentFiles``.
    package var instructions: [InstructionFile] = []
    /// The rules that are checked, from the target's definition.
    package var rules: [Rule] = []
    /// What is known of the crash or the failure, in Markdown. It is marked as data in the prompt.
    package var context = ""
    /// The paths of the files that came with the task, as the agent sees them.
    package var files: [String] = []
    /// The folder or file into which remarks are written while the agent works, as the agent sees it.
    package var remarksFile: String?

    /// The material of a task as its history tells it.
    package init(_ task: TaskRecord, _ events: [TaskEvent]) {
        self.task = task
        for event in events { add(event) }
    }

    private mutating func add(_ event: TaskEvent) {
        switch event.what {
        case .planned(let plan, _): (self.plan, isApproved, planProblem) = (plan, false, nil)
        case .planFailed(_, let reason): planProblem = reason
        case .planApproved(let version, _): isApproved = plan?.version == version
        case .remark(let text):
            remarks.append(
                Remark(by: event.by, text: text, plan: plan?.version, attempt: tries.map(\.attempt).max()))
        case .made(let made):
            tries.append(Earlier(attempt: made.attempt, agent: made.agent, made: made))
        case .tryFailed(let agent, let attempt, _, let reason):
            tries.append(Earlier(attempt: attempt, agent: agent, problems: [reason]))
        case .notReproduced(_, let attempt, let reason):
            add("it shows no test that fails without it: \(reason)", to: attempt)
        case .checked(_, let attempt, let verdict, let reason) where ![.passed, .flaky].contains(verdict):
            add("\(verdict.title): \(reason)", to: attempt)
        case .landingFailed(let reason):
            if let last = tries.last { add("it did not land: \(reason)", to: last.attempt) }
        case .reopened(let reason): planProblem = nil; reopened = reason
        default: break
        }
    }

    private mutating func add(_ problem: String, to attempt: Int) {
        guard let index = tries.lastIndex(where: { $0.attempt == attempt }) else { return }
        tries[index].problems.append(problem)
    }

    /// Why the task was opened again; nil if it never was.
    package private(set) var reopened: String?
}
