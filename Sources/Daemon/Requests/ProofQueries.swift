import Running
import Preparing
import Control
import Foundation
import Engine
import Archive
import Logging
import Store
import Git
import Pipeline
import WorkflowPrograms

/// Answers requests about proofs.
struct ProofQueries: Sendable {
    let index: Store.Index
    let requests: RunRequestMaker
    let planner: RunPlanner
    let options: DaemonOptions
    let store: ArchiveStore
    let log: Logger

    /// Whether each step of a run by hand would be proved; nothing is started.
    func why(_ start: StartRequest) async throws -> [StepReasoning] {
        let (request, repository) = try await requests.request(start)
        // Nothing is started, so no approval is needed.
        let prepared = try await planner.planned(request, in: repository)
        let programs = try await planner.tools.programs()
        let search = ProofSearch(
            index: index, store: store, options: options, sandboxing: await planner.tools.sandboxing(),
            toolchain: programs.toolchain, log: log)
        return try await ProofReasoning(
            search: search, prepared: prepared, request: request, repository: repository
        ).steps()
    }

    /// The number of proofs, and the steps whose proofs are not trusted.
    func status() async throws -> ProofStatus {
        ProofStatus(counts: try await index.proofCounts(), distrusted: try await index.distrustedSteps(at: Date()))
    }

    /// Trusts a step's proofs again; returns what was done.
    func trustProofs(of step: String, in repository: String?) async throws -> CompletedAction {
        let count = try await index.trustProofs(of: step, in: repository)
        guard count > 0 else {
            throw RequestError(
                .usage,
                "no proof of a step \"\(step)\" was wrong; `pipectl proofs` lists the steps that are not trusted")
        }
        return .trusted(step: step)
    }
}
