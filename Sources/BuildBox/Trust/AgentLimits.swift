import Control
import Results
import Store
import Foundation
import Git
import Pipeline

/// What the box refuses an agent, because a person has to start it: what publishes, and what has secrets.
///
/// The run itself asks here, too: between the request and the start a change may have been merged.
struct AgentLimits: Sendable {
    var request: RunRequest

    /// - Throws: ``EarlyVerdict`` where the workflow is a release.
    func check(_ declaration: WorkflowDeclaration) throws {
        guard isAgents, request.runsAtMostOnce || declaration.runsAtMostOnce else { return }
        throw refusal("workflow \"\(request.workflow)\" is a release")
    }

    /// - Throws: ``EarlyVerdict`` where a step of the plan would get secrets, or a person has let the earlier run go on.
    func check(_ plan: Plan, _ trust: Trust) throws {
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

extension Box {
    /// Refuses a request of an agent that only a person may make; anything else that is wrong, its run says.
    ///
    /// - Parameter earlier: How far the run was trusted that is repeated.
    /// - Throws: ``RequestError``, with the command for a person.
    func checkLimits(
        of request: RunRequest, in repository: WatchedRepository, earlier: Trust? = nil
    ) async throws {
        guard request.options.isForAgent else { return }
        do {
            let prepared = try await planned(request, in: repository)
            if earlier == .merged { try AgentLimits(request: request).check(prepared.wholePlan, .merged) }
        } catch let early as EarlyVerdict {
            guard early.verdict == .cancelled else { return }
            throw RequestError(.needsPerson, early.reason)
        }
    }

    /// Refuses a run of some steps or tests where the plan has none of that name, before anything is started.
    ///
    /// - Throws: ``EarlyVerdict`` with ``Verdict/definitionError``. A run that would end early for another reason, such as
    ///   a conflict, is accepted: its report says so.
    func checkParts(of request: RunRequest, in repository: WatchedRepository) async throws {
        guard request.isPartial else { return }
        do { _ = try await planned(request, in: repository) } catch let early as EarlyVerdict {
            if early.verdict == .definitionError { throw early }
        }
    }

    /// The preparation of a run that is not started; as if everything that it asks a person were approved.
    func planned(_ request: RunRequest, in repository: WatchedRepository) async throws -> RunPreparation {
        let run = QueuedRun(id: 0, request: request, createdAt: Date())
        let programs = try await programs()
        let prepared = try await RunPreparation.make(
            run, in: repository, programs: programs, rules: try await rules(for: repository),
            tests: { [index, log] in
                await RunOrder(index: index, log: log).tests(of: request, $0, store: repository.store)
            }
        ) { binding in
            Approval(
                why: "", head: request.head, definition: "", binding: binding, askedAt: Date(), decision: .approved)
        }
        try await withRepository(at: repository.store) { try $0.letGo(of: RunPreparation.pin(run.id)) }
        return prepared
    }
}
