import Diagnostics
import Results

/// Finds the SARIF files of a run that go to code scanning.
enum ScanRenderer {
    static func scans(_ facts: ForgeRunFacts) -> [ScanState] {
        let summary = facts.summary
        guard summary.state == .ended, let ref = ref(summary) else { return [] }
        return CodeScanningFile.latest(facts.resultFiles).map { file in
            ScanState(
                workflow: summary.workflow, run: summary.id, step: file.step, number: file.number, file: file.name,
                commit: summary.head, ref: ref)
        }
    }

    /// The ref to which the results belong; nil if code scanning does not support it.
    private static func ref(_ summary: RunSummary) -> String? {
        if let change = summary.change {
            return Int(change).flatMap { $0 > 0 ? "refs/pull/\($0)/head" : nil }
        }
        return summary.ref.hasPrefix("refs/heads/") || summary.ref.hasPrefix("refs/tags/") ? summary.ref : nil
    }
}
