package import Watching
package import Preparing
import Control
import Foundation
import Git
package import Logging
import Pipeline
package import Results
package import Store

/// Prepares runs without starting them, to report what would happen or to check whether an agent may start them.
package struct RunPlanner: Sendable {
    package let index: Store.Index
    package let repositories: KnownRepositories
    package let tools: BuildTools
    package let log: Logger

    package init(index: Store.Index, repositories: KnownRepositories, tools: BuildTools, log: Logger) {
        self.index = index
        self.repositories = repositories
        self.tools = tools
        self.log = log
    }

    /// Prepares a run without starting it, as if everything were approved.
    package func planned(_ request: RunRequest, in repository: WatchedRepository) async throws -> RunPreparation {
        let run = QueuedRun(id: 0, request: request, createdAt: Date())
        let prepared = try await RunPreparation.make(
            run, in: repository, programs: try await tools.programs(),
            rules: try await repositories.rules(for: repository),
            tests: { [index, log] in
                await RunOrder(index: index, log: log).tests(of: request, $0, store: repository.store)
            },
            contributor: { [index] in try await index.contributor(of: request, pushed: $0.pushed.hex) }
        ) { binding in
            Approval(
                why: "", head: request.head, definition: "", binding: binding, askedAt: Date(), decision: .approved)
        }
        try await withRepository(at: repository.store) { try $0.letGo(of: RunPin.ref(of: run.id)) }
        return prepared
    }

    /// Refuses a run of steps or tests that the plan does not have, before anything starts.
    ///
    /// - Throws: ``EarlyVerdict`` with ``Verdict/definitionError``. A run that would end early for another reason, such
    ///   as a conflict, is accepted, and its report gives the reason.
    package func checkParts(of request: RunRequest, in repository: WatchedRepository) async throws {
        guard request.isPartial else { return }
        do { _ = try await planned(request, in: repository) } catch let early as EarlyVerdict {
            if early.verdict == .definitionError { throw early }
        }
    }

    /// Refuses a request of an agent that only a person may make; other errors are reported by the run.
    ///
    /// - Parameter earlier: How far the repeated run was trusted.
    /// - Throws: ``RequestError``, with the command for a person.
    package func checkLimits(of request: RunRequest, in repository: WatchedRepository, earlier: Trust? = nil)
        async throws
    {
        guard request.options.isForAgent else { return }
        do {
            let prepared = try await planned(request, in: repository)
            if earlier == .merged { try AgentLimits(request: request).check(prepared.wholePlan, .merged) }
        } catch let early as EarlyVerdict {
            guard early.verdict == .cancelled else { return }
            throw RequestError(.needsPerson, early.reason)
        }
    }
}
