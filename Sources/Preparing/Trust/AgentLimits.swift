import Watching
import Control
package import Results
import Store
import Foundation
import Git
package import Pipeline

/// What the box refuses an agent, because a person has to start it: what publishes, and what has secrets.
///
/// The run itself asks here, too: between the request and the start a change may have been merged.
package struct AgentLimits: Sendable {
    package var request: RunRequest

    package init(request: RunRequest) {
        self.request = request
    }

    /// - Throws: ``EarlyVerdict`` if the workflow is a release.
    package func check(_ declaration: WorkflowDeclaration) throws {
        guard isAgents, request.runsAtMostOnce || declaration.runsAtMostOnce else { return }
        throw refusal("workflow \"\(request.workflow)\" is a release")
    }

    /// - Throws: ``EarlyVerdict`` if a step of the plan would get secrets, or if a person approved the earlier run at a
    ///   gate.
    package func check(_ plan: Plan, _ trust: Trust) throws {
        guard isAgents else { return }
        if trust == .merged, let step = plan.steps.first(where: { !$0.secrets.isEmpty }) {
            throw refusal("step \"\(step.name)\" of workflow \"\(request.workflow)\" gets secrets")
        }
        if request.resumes != nil, let gate = plan.steps.first(where: { $0.action == .approval }) {
            throw refusal("step \"\(gate.name)\" needs approval in workflow \"\(request.workflow)\"")
        }
    }

    private var isAgents: Bool { request.options.isForAgent }

    private func refusal(_ why: String) -> EarlyVerdict {
        EarlyVerdict(verdict: .cancelled, reason: "\(why): an agent can't start it. A person can: \(command)")
    }

    private var command: String {
        guard let run = request.rerun?.of else { return "`pipectl run \(request.workflow.shellQuoted)`" }
        return "`pipectl rerun \(run)\(request.resumes != nil || request.onlySteps != nil ? " --failed" : "")`"
    }
}
