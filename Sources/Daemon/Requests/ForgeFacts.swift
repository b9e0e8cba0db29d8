import Diagnostics
import Archive
import Evaluating
import Running
import Control
import Forges
import Git
import Pipeline
import Reports
import Results

/// What the daemon knows about a run beyond its row in the store, for display at a forge.
struct ForgeFacts: Sendable {
    let board: LiveBoard
    let bundles: BundleQuery
    /// True if the daemon listens for webhooks: only then does it hear of a press.
    let hasButtons: Bool
    let links: PageLinks

    func facts(_ summary: RunSummary) async throws -> ForgeRunFacts {
        var facts = ForgeRunFacts(summary: summary)
        facts.hasButtons = hasButtons
        facts.link = links.outsidePage(of: summary.id)
        switch summary.state {
        case .queued: break
        case .running:
            facts.steps =
                board.run(summary.id)?.steps.map {
                    ForgeRunFacts.Step(
                        name: $0.record.name, status: $0.record.status,
                        seconds: $0.record.status.isFinal ? $0.record.duration : nil)
                } ?? []
        case .ended:
            // If the report can't be read, the verdict and its reason are shown.
            if summary.isArchived { facts.document = try? await bundles.archivedDocument(summary.id) }
            if let document = facts.document { facts.delta = await delta(document) }
            if summary.isArchived { facts.resultFiles = (try? await bundles.store.resultFiles(summary.id)) ?? [] }
        }
        return facts
    }

    /// The change's lines, if something in its report has a place there; nil if they can't be read.
    private func delta(_ document: ReportDocument) async -> ChangeDelta? {
        let report = document.report
        let hasPlaces =
            document.tests.contains { $0.status.isFailure && $0.line != nil }
            || report.findings.contains { $0.line != nil }
            || report.steps.contains { $0.review?.findings.contains { $0.line != nil } ?? false }
        guard hasPlaces, let change = report.change, let head = OID(hex: change.head),
            let target = OID(hex: change.targetCommit), let objects = await bundles.tests.comparing(report).objects
        else { return nil }
        let tested = report.testedCommit.flatMap(OID.init(hex:))
        return try? await withRepository(at: objects) { store in
            let start = try store.mergeBase(head, target)
            let brought = try Self.hunks(from: start, to: head, in: store)
            // Of a head that contains its target's tip, the merge is the head's own tree.
            guard let tested, start != target, store.contains(tested) else { return ChangeDelta(change: brought) }
            let moved = try Self.hunks(from: tested, to: head, in: store)
            return ChangeDelta(
                change: brought, merge: moved,
                isMergeCut: moved.count >= Self.mostHunks
                    || moved.reduce(0) { $0 + $1.text.utf8.count } >= Self.mostBytes - 4_096)
        }
    }

    private static let mostHunks = 5_000
    private static let mostBytes = 4 << 20

    private static func hunks(from old: OID?, to new: OID, in store: Repository) throws -> [ChangeDelta.Hunk] {
        try store.hunks(from: old, to: new, maximumBytes: mostBytes, maximumHunks: mostHunks).map {
            ChangeDelta.Hunk(
                path: $0.path, oldPath: $0.oldPath, oldStart: $0.oldStart, newStart: $0.newStart, text: $0.text)
        }
    }
}
