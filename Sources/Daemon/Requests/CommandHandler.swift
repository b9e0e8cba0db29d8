import Listening
import Watching
import Control
import Logging
import Results
import Store
import Forges

/// Handles requests that change something.
struct CommandHandler: Sendable {
    let repositories: KnownRepositories
    let runs: ManualRuns
    let approvals: ApprovalService
    let bisect: BisectService
    let fixes: FixRequests
    let proofs: ProofQueries
    let archive: ArchiveCommands
    let forges: ForgeRequests
    let log: Logger

    /// The reply to such a request; nil for other requests.
    func reply(to request: DaemonRequest, by caller: Caller) async throws -> DaemonReply? {
        switch request {
        case .look(let path): return .completed(try repositories.watchers.wakeUp(at: path))
        case .start(let start):
            let outcome = try await runs.start(start, by: caller.person)
            return .accepted(outcome.run.id, isNew: outcome.isNew)
        case .rerun(let wanted):
            let outcome = try await runs.rerun(wanted, by: caller.person)
            return .accepted(outcome.run.id, isNew: outcome.isNew)
        case .cancel(let id, let reason): return .completed(try await runs.cancel(id, reason: reason))
        case .approve(let approve):
            return .completed(try await approvals.approve(approve, by: caller.name, user: caller.user))
        case .protect(let branch, let repository):
            guard let user = caller.user else { throw RequestError(.usage, "only `pipectl protect` protects a branch") }
            return .completed(try await repositories.protect(branch, of: repository, user: user, log: log))
        case .collect(let wanted): return .collected(try await archive.collect(wanted))
        case .trustProofs(let step, let repository):
            return .completed(try await proofs.trustProofs(of: step, in: repository))
        case .pushArchive(let remote):
            return .completed(.pushed(refs: try await archive.push(to: remote), remote: remote))
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
}
