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

/// What commands ask about proofs.
struct ProofQueries: Sendable {
    let index: Store.Index
    let requests: RunRequestMaker
    let planner: RunPlanner
    let options: BoxOptions
    let store: ArchiveStore
    let log: Logger

    /// What stands for each step of a run that would be started by hand; nothing is started.
    func why(_ start: StartRequest) async throws -> [StepReasoning] {
        let (request, repository) = try await requests.request(start)
        // Nothing of the run is started, so nobody need let it.
        let prepared = try await planner.planned(request, in: repository)
        let programs = try await planner.tools.programs()
        let search = ProofSearch(
            index: index, store: store, options: options, sandboxing: await planner.tools.sandboxing(),
            toolchain: programs.toolchain, log: log)
        return try await ProofReasoning(
            search: search, prepared: prepared, request: request, repository: repository
        ).steps()
    }

    /// How many proofs there are, and which steps are not believed.
    func status() async throws -> ProofStatus {
        ProofStatus(counts: try await index.proofCounts(), distrusted: try await index.distrustedSteps(at: Date()))
    }

    /// Believes a step's proofs again; what was done, as a sentence.
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
