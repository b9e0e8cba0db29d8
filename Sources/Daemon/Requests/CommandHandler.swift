import Watching
import Control
import Archive
import Logging
import Results
import Store
import Forges

/// Handles requests that change something.
struct CommandHandler: Sendable {
    let index: Store.Index
    let store: ArchiveStore
    let repositories: KnownRepositories
    let runs: ManualRuns
    let approvals: ApprovalService
    let bisect: BisectService
    let fixes: FixRequests
    let proofs: ProofQueries
    let clones: CloneCleanup
    let forges: ForgeRequests
    let log: Logger

    /// The reply to such a request; nil for other requests.
    func reply(to request: DaemonRequest, by user: UInt32) async throws -> DaemonReply? {
        switch request {
        case .look(let path): return .completed(try repositories.watchers.wakeUp(at: path))
        case .start(let start):
            let outcome = try await runs.start(start)
            return .accepted(outcome.run.id, isNew: outcome.isNew)
        case .rerun(let wanted):
            let outcome = try await runs.rerun(wanted)
            return .accepted(outcome.run.id, isNew: outcome.isNew)
        case .cancel(let id, let reason): return .completed(try await runs.cancel(id, reason: reason))
        case .approve(let approve): return .completed(try await approvals.approve(approve, user: user))
        case .protect(let branch, let repository):
            return .completed(try await repositories.protect(branch, of: repository, user: user, log: log))
        case .collect(let wanted): return .collected(try await collect(wanted))
        case .trustProofs(let step, let repository):
            return .completed(try await proofs.trustProofs(of: step, in: repository))
        case .pushArchive(let remote):
            try await store.export(from: index)
            let count = try await store.push(to: remote)
            return .completed(.pushed(refs: count, remote: remote))
        case .connectForge(let wanted):
            let facts = try await repositories.facts(of: wanted.repository)
            try await forges.connect(facts.name, location: facts.location, address: wanted.address)
            return .completed(
                .connectedForge(
                    repository: facts.name, isConnected: true, webhook: forges.listen?.hook(of: facts.name)))
        case .disconnectForge(let name):
            try await forges.disconnect(name)
            return .completed(.connectedForge(repository: name, isConnected: false))
        default: return nil
        }
    }

    private func collect(_ request: CollectRequest) async throws -> CollectReply {
        let plan = try await store.plan(request.policy, index)
        var stores = try await clones.abandoned()
        if !request.isDryRun {
            try await store.apply(plan, index)
            stores = try await clones.remove(stores)
        }
        return CollectReply(plan: plan, isDryRun: request.isDryRun, stores: stores)
    }
}
