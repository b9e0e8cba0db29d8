package import Results
import Pipeline

/// The runs of a task. Each has a nonce of its own: a request that is made again after a crash finds the first run.
extension RunRequest {
    /// A run in which an agent makes a plan from the target's files.
    ///
    /// - Parameters:
    ///   - version: The number of the plan.
    ///   - repetition: From 1; a plan is asked for again where the answer was none.
    ///   - tip: The target's commit.
    package static func planning(
        _ task: TaskRecord, by agent: String, version: Int, repetition: Int, tip: String
    ) -> RunRequest {
        onTarget(
            task,
            TaskRole(
                task: task.id, part: .planning, attempt: version, agent: agent,
                repetition: repetition > 1 ? repetition : nil), tip: tip)
    }

    /// A run in which an agent edits the target's files, or those of an earlier try.
    ///
    /// - Parameter mended: The try on top of which it works; nil for the target.
    package static func working(
        _ task: TaskRecord, by agent: String, attempt: Int, tip: String, onTopOf mended: TaskTry? = nil
    ) -> RunRequest {
        let role = TaskRole(
            task: task.id, part: .working, attempt: attempt, agent: agent, base: mended?.attempt)
        guard let mended else { return onTarget(task, role, tip: tip) }
        return onTry(task, role, head: mended.commit, tip: tip)
    }

    /// A run of a workflow on the target with nothing but the tests of a try, which must fail there.
    ///
    /// - Parameter commit: As ``TaskReproductionCommit`` makes it.
    package static func reproducing(
        _ task: TaskRecord, _ made: TaskTry, workflow: String, repetition: Int = 1, tip: String, commit: String
    ) -> RunRequest {
        let role = TaskRole(
            task: task.id, part: .reproducing, attempt: made.attempt, workflow: workflow,
            repetition: repetition > 1 ? repetition : nil)
        return onTry(task, role, workflow: workflow, head: commit, tip: tip)
    }

    /// A run of a workflow on the target as it is, for what the run of ``reproducing(_:_:workflow:repetition:tip:commit:)``
    /// is compared with.
    package static func comparing(
        _ task: TaskRecord, attempt: Int, workflow: String, repetition: Int = 1, tip: String
    ) -> RunRequest {
        let role = TaskRole(
            task: task.id, part: .comparing, attempt: attempt, workflow: workflow,
            repetition: repetition > 1 ? repetition : nil)
        return onTarget(task, role, workflow: workflow, tip: tip)
    }

    /// A run of a whole workflow on a try, as if that were a change's head.
    package static func checking(
        _ task: TaskRecord, _ made: TaskTry, workflow: String, repetition: Int = 1, tip: String
    ) -> RunRequest {
        let role = TaskRole(
            task: task.id, part: .checking, attempt: made.attempt, workflow: workflow,
            repetition: repetition > 1 ? repetition : nil)
        return onTry(task, role, workflow: workflow, head: made.commit, tip: tip)
    }

    /// A run in which another agent reviews a try.
    ///
    /// - Parameter repetition: From 1; a review is asked for again where the answer was none.
    package static func reviewing(
        _ task: TaskRecord, _ made: TaskTry, by agent: String, repetition: Int = 1, tip: String
    ) -> RunRequest {
        let role = TaskRole(
            task: task.id, part: .reviewing, attempt: made.attempt, agent: agent,
            repetition: repetition > 1 ? repetition : nil)
        return onTry(task, role, head: made.commit, tip: tip)
    }

    /// A run on files that an agent has not finished. It is the agent's own, not the task's: nothing follows from it.
    ///
    /// - Parameters:
    ///   - request: The run in which the agent works.
    ///   - number: How often the agent has asked.
    package static func trying(
        _ task: TaskRecord, of request: RunRequest, commit: String, number: Int
    ) -> RunRequest {
        let role = request.task ?? TaskRole(task: task.id, part: .working, attempt: 0)
        var trial = onTry(task, role, head: commit, tip: request.definitionCommit)
        trial.kind = .manual
        trial.options.isForAgent = true
        trial.nonce += ", trial \(number)"
        trial.subject += ", trial"
        return trial
    }

    /// The same try may be tested with newer targets, so the nonce has the tip.
    private static func onTry(
        _ task: TaskRecord, _ role: TaskRole, workflow: String? = nil, head: String, tip: String
    ) -> RunRequest {
        let branch = task.changeBranch
        var request = RunRequest(
            repository: task.repository, workflow: workflow ?? ownWorkflow(of: task), event: .pullRequest,
            ref: "refs/heads/\(branch)", branch: task.branch, head: head, definitionCommit: tip,
            change: Change(
                name: branch, head: head, target: task.branch, targetCommit: tip, title: task.title,
                author: TaskCommit.name),
            kind: .task(role), subject: subject(role), concurrency: .queue(max: 1_000))
        request.nonce = "\(role.nonce) onto \(tip)"
        return request
    }

    private static func onTarget(
        _ task: TaskRecord, _ role: TaskRole, workflow: String? = nil, tip: String
    ) -> RunRequest {
        var request = RunRequest(
            repository: task.repository, workflow: workflow ?? ownWorkflow(of: task), event: .manual,
            ref: "refs/heads/\(task.branch)", branch: task.branch, head: tip, definitionCommit: tip,
            kind: .task(role), subject: subject(role), concurrency: .queue(max: 1_000))
        request.nonce = role.nonce
        return request
    }

    /// The workflow whose warm workspaces the agents of a task start from: the first that must pass.
    private static func ownWorkflow(of task: TaskRecord) -> String { task.rules.workflows.first ?? "" }

    /// Agents that work side by side are subjects of their own, so that none waits for another.
    private static func subject(_ role: TaskRole) -> String {
        "task \(role.task)" + (role.agent.map { ", \($0)" } ?? "") + ", \(role.part.rawValue) \(role.attempt)"
            + (role.workflow.map { ", \($0)" } ?? "")
    }
}
