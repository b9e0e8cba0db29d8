import DaemonLog
import Watching
import Logging
import Pipeline
import Results
import Store

/// Tells the author of a change which other open changes it conflicts with, as far as the daemon has found out.
struct EarlyConflictContributor: ReportContributor {
    let index: Store.Index
    let log: Logger

    /// Findings of one report; the others are the same news.
    private static let most = 5

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        let request = run.request
        guard let change = request.change, !request.isOfMergeQueue else { return }
        do {
            let conflicts = try await index.earlyConflicts(of: change.name, in: request.repository)
                .filter { $0.head == change.head }
            draft.report.findings += conflicts.prefix(Self.most).map { conflict in
                Finding(
                    rule: "early-conflict", severity: .note, message: conflict.inWords, file: conflict.paths.first,
                    line: nil, column: nil, suggestion: "the one that lands second must be merged or rebased")
            }
        } catch {
            log.debug(
                "run \(draft.report.id): other open changes are not looked at: \(error)",
                metadata: .code(.earlyConflictsUnknown, run: draft.report.id))
        }
    }
}
