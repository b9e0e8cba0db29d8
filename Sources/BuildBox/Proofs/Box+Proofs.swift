import Control
import Foundation
import Store
import Git
import Pipeline
import WorkflowPrograms

/// What commands ask about proofs.
extension Box {
    /// What stands for each step of a run that would be started by hand; nothing is started.
    func why(_ start: StartRequest) async throws -> [StepReasoning] {
        let (request, repository) = try await request(start)
        // Nothing of the run is started, so nobody need let it.
        let prepared = try await planned(request, in: repository)
        let programs = try await programs()
        let search = ProofSearch(
            index: index, store: store, options: options, sandboxing: await sandboxing(),
            toolchain: programs.toolchain, log: log)
        return try await ProofReasoning(
            search: search, prepared: prepared, request: request, repository: repository
        ).steps()
    }

    /// How many proofs there are, and which steps are not believed.
    func proofStatus() async throws -> ProofStatus {
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
