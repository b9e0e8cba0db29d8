import Control
import Forges
import Reports
import Results

/// What the daemon knows of a run beside its row in the store, for what a forge shows of it.
struct ForgeFacts: Sendable {
    let board: LiveBoard
    let bundles: BundleQuery

    func facts(_ summary: RunSummary) async throws -> ForgeRunFacts {
        var facts = ForgeRunFacts(summary: summary)
        switch summary.state {
        case .queued: break
        case .running:
            guard let live = board.run(summary.id), !live.steps.isEmpty else { break }
            facts.progress = (live.steps.count { $0.record.status.isFinal }, live.steps.count)
        case .ended:
            // A report that can't be read leaves the verdict and its reason.
            if summary.isArchived { facts.document = try? await bundles.archivedDocument(summary.id) }
        }
        return facts
    }
}
