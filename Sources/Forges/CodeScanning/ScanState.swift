import Diagnostics
public import Results

/// A SARIF file that the forge's code scanning should receive.
public struct ScanState: Sendable, Equatable, Codable {
    /// The workflow whose step created it.
    public var workflow: String
    /// The run whose step created it.
    public var run: RunID
    /// The step's index in the plan; below, the index of the file among the step's files.
    public var step: Int
    public var number: Int
    /// The file's name in the archive.
    public var file: String
    /// The full id of the commit that was pushed.
    public var commit: String
    /// The pushed ref, such as `refs/heads/main` or `refs/pull/7/head`.
    public var ref: String

    public init(
        workflow: String, run: RunID, step: Int, number: Int, file: String, commit: String, ref: String
    ) {
        self.workflow = workflow
        self.run = run
        self.step = step
        self.number = number
        self.file = file
        self.commit = commit
        self.ref = ref
    }
}

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
