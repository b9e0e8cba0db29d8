import ProofKeys
import Watching
import Preparing
import Control
import Archive
import Store
import Results
import Engine
import Git
import Pipeline

/// Explains for each step of a prepared run which proof it has, or what changed since its last proof.
struct ProofReasoning: Sendable {
    /// The most paths that are named for one step.
    static let mostPaths = 20

    let search: ProofSearch
    let prepared: RunPreparation
    let request: RunRequest
    let repository: WatchedRepository

    func steps() async throws -> [StepReasoning] {
        guard ProofSearch.isWanted(request, search.options) else {
            let reason =
                search.options.usesProofs
                ? "this kind of run uses no proofs" : "the daemon uses no proofs (--no-proofs)"
            return prepared.plan.steps.map { StepReasoning(step: $0.name, standing: .never, reason: reason) }
        }
        let keyed = try await search.keys(prepared, request, in: repository)
        let claims = try await search.claimed(keyed, prepared, request)
        let found = try await search.believed(claims, keyed, prepared, request, in: repository)
        let uses = ProofSelection.make(
            prepared.plan, proved: Set(found.keys), restorable: Set(found.filter { $0.value.outputs != nil }.keys))
        var reasons: [StepReasoning] = []
        for step in prepared.plan.steps {
            switch keyed.standings[step.name] {
            case .never(let why): reasons.append(StepReasoning(step: step.name, standing: .never, reason: why))
            case .provable(let key):
                if let proof = found[step.name], let use = uses[step.name] {
                    reasons.append(reason(step, proof.step.citation, use))
                } else {
                    let unbelieved = try await unbelieved(step, claims[step.name])
                    if let unbelieved {
                        reasons.append(unbelieved)
                    } else {
                        reasons.append(try await change(step, key))
                    }
                }
            case nil: reasons.append(StepReasoning(step: step.name, standing: .unproved, reason: "it has no proof key"))
            }
        }
        return reasons
    }

    private func reason(_ step: PlannedStep, _ proof: ProofCitation, _ use: ProofSelection.Use) -> StepReasoning {
        switch use {
        case .cite:
            StepReasoning(step: step.name, standing: .proved, run: proof.run, reason: "proved by run \(proof.run)")
        case .restore:
            StepReasoning(
                step: step.name, standing: .restored, run: proof.run,
                reason: "proved by run \(proof.run); its outputs are restored")
        case .run:
            StepReasoning(
                step: step.name, standing: .runForItsOutputs, run: proof.run,
                reason: "proved by run \(proof.run), but it runs because a step that runs needs its outputs: "
                    + (step.publishes.isEmpty
                        ? step.outputs.isEmpty
                            ? "it declares no .outputs(…)" : "its outputs were not stored, or are gone"
                        : "it publishes values"))
        }
    }

    /// Why a proof with the same key is not trusted; nil if there is none, or no reason.
    private func unbelieved(_ step: PlannedStep, _ claim: ProofSearch.Found?) async throws -> StepReasoning? {
        guard let claim, claim.scope != ProofScope.merged,
            let breach = try await search.breaches(of: [step.name: claim], prepared, request, in: repository)[step.name]
        else { return nil }
        let run = claim.step.citation.run
        return StepReasoning(
            step: step.name, standing: .unproved, run: run,
            reason: "run \(run) passed it with the same inputs, but \(breach)")
    }

    /// Compares the step with the newest run that proved a step of its name.
    private func change(_ step: PlannedStep, _ key: StepKey) async throws -> StepReasoning {
        let newest = try await search.index.newestProof(
            of: step.name, in: request.workflow, of: request.repository,
            scopes: ProofScope.believed(prepared.trust, request))
        guard let newest, let report = try? await search.store.report(newest.citation.run),
            let before = report.steps.first(where: { $0.key?.value == newest.key })?.key
        else {
            return StepReasoning(
                step: step.name, standing: .unproved, reason: "no run that counts here has proved it yet")
        }
        guard newest.key != key.value else {
            return StepReasoning(
                step: step.name, standing: .unproved, run: newest.citation.run,
                reason: "run \(newest.citation.run) proved it, but that proof is incomplete or not trusted here: "
                    + "`pipectl archive verify` checks it for damage")
        }
        var reason = StepReasoning(step: step.name, standing: .changed, run: newest.citation.run, reason: "")
        reason.parts = key.differences(from: before)
        if reason.parts.contains(.inputs), let old = report.testedTree.flatMap(OID.init(hex:)) {
            // Tracked files at the step's outputs belong to the key as well.
            let patterns = step.inputs.isEmpty ? [] : step.inputs + step.outputs
            let (tree, limit) = (prepared.tree, Self.mostPaths)
            // The tree of an old merge may be gone; then only the name of the part is shown.
            reason.paths =
                (try? await withRepository(at: repository.store) { store in
                    try TreeInputs(repository: store, tree: tree).differences(from: old, patterns, limit: limit)
                }) ?? []
        }
        let parts = reason.parts.map(\.inWords).joined(separator: ", ")
        reason.reason = "since run \(newest.citation.run), \(parts.isEmpty ? "its key" : parts) changed"
        return reason
    }
}

extension StepKey.Part {
    /// The words after "since run 12, …".
    var inWords: String {
        switch self {
        case .command: "its command"
        case .environment: "its environment"
        case .parameters: "the parameters"
        case .context: "the run's context (its command uses a variable of the run or git, or it is a closure)"
        case .inputs: "its inputs"
        case .permissions: "its limits or permissions"
        case .results: "the result files that it declares"
        case .toolchain: "the toolchain"
        case .machine: "the build box"
        case .program: "the compiled workflows"
        case .needs: "the steps it needs"
        }
    }
}
