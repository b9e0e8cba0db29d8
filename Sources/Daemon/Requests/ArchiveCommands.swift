import Archive
import Control
import Store

/// Requests that change the archive.
struct ArchiveCommands: Sendable {
    let index: Store.Index
    let store: ArchiveStore
    let clones: CloneCleanup

    /// Pushes all runs that have ended to a remote, and returns the number of refs.
    func push(to remote: String) async throws -> Int {
        try await store.export(from: index)
        return try await store.push(to: remote)
    }

    /// Removes the runs that a policy does not keep, and the stores of clones that are gone; or says which these are.
    func collect(_ request: CollectRequest) async throws -> CollectReply {
        let plan = try await store.plan(request.policy, index)
        var stores = try await clones.abandoned()
        if !request.isDryRun {
            try await store.apply(plan, index)
            stores = try await clones.remove(stores)
        }
        return CollectReply(plan: plan, isDryRun: request.isDryRun, stores: stores)
    }
}
