package import Pipeline
package import Results
import Watching

extension Plan {
    /// The one step in which an agent does its part of a task. All of it is what the target declares.
    ///
    /// - Parameter whole: The plan of the workflow that tests the work: the agent sees its caches.
    /// - Throws: ``EarlyVerdict`` if the declaration has no such agent.
    package init(of role: TaskRole, in task: TaskRecord, within whole: Plan) throws {
        let rules = task.rules
        let agent = (rules.agents + [rules.reviewer].compactMap { $0 }).first { $0.name == role.agent }
        guard var step = agent.flatMap({ Self.step(of: role.part, by: $0) }) else {
            throw EarlyVerdict(
                verdict: .definitionError,
                reason: "the declaration of task \(role.task) has no agent \"\(role.agent ?? "")\" for this; see "
                    + "`pipectl task show \(role.task)`")
        }
        (step.timeout, step.limits) = (rules.timeout, rules.limits)
        step.isNeverProved = true
        step.secrets = rules.secrets.map { SecretUse($0, as: .environment) }
        var names: Set<String> = []
        step.caches = whole.steps.flatMap(\.caches).filter { names.insert($0.name).inserted }
        self.init(workflow: whole.workflow, limits: whole.limits, steps: [step])
    }

    private static func step(of part: TaskRole.Part, by agent: AgentCommand) -> PlannedStep? {
        switch part {
        case .planning: PlannedStep(name: "plan", action: .shell(agent.plan))
        case .working: PlannedStep(name: "work", action: .shell(agent.work))
        case .reviewing: agent.review.map { Review(by: $0, rules: ["AGENTS.md"]).step.planned }
        case .reproducing, .comparing, .checking: nil
        }
    }
}
