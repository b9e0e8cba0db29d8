import Watching
import Concurrency
import Workspaces
import Control
import Engine
import Foundation
import Results
import Store

/// Finds and removes the stores of deleted clones.
struct CloneCleanup: Sendable {
    let index: Store.Index
    let retained: RetainedWorkspaceStore
    let stores: CloneStores

    /// Stores of deleted clones that no run needs: neither a queued or live one, nor a retained workspace.
    func abandoned() async throws -> [AbandonedStore] {
        var needed: Set<String> = []
        for run in try await index.runs(RunFilter(states: [.queued, .running], limit: .max)) {
            guard let request = try await index.run(run.id)?.request, let clone = request.source else { continue }
            needed.insert(stores.path(for: clone, of: request.repository))
        }
        for one in await retained.all {
            needed.formUnion(one.objects.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path })
        }
        return try await offThread { [stores, needed] in stores.abandoned(needed: needed) }
    }

    /// Removes these stores, and scratch files of killed merges; returns the removed stores.
    func remove(_ abandoned: [AbandonedStore]) async throws -> [AbandonedStore] {
        try await offThread { [stores] in
            stores.clearScratch()
            return stores.remove(abandoned)
        }
    }
}
