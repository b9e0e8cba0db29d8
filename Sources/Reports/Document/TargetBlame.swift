public import Results
import TerminalText
import Pipeline

/// How many of a run's failing tests also fail on the target. A reader must know this first.
public struct TargetBlame: Sendable, Equatable {
    /// Whether every failure also exists on the target.
    public var isWhole: Bool
    /// `both failing tests fail on main too (run 5)`.
    public var headline: String

    /// Nil if no test fails in both runs, or if nothing is known of the target.
    public init?(_ report: Report, _ tests: [TestResult]) {
        guard report.verdict == .failed, let comparison = report.comparison, !comparison.alsoFailing.isEmpty else {
            return nil
        }
        let also = comparison.alsoFailing.count
        let all = also + comparison.newlyFailing.count
        let target = report.change.map { TerminalText.name($0.target) } ?? "the target"
        // A step that failed without a failing test has another reason, such as a compiler error.
        let isExplained = report.steps.allSatisfy { step in
            !step.status.isFailure || step.allowsFailure
                || step.status == .failed && step.tests?.of(tests).contains(where: \.status.isFailure) == true
        }
        isWhole = all == also && isExplained
        let who =
            switch (also, all) {
            case (1, 1): "the failing test fails"
            case (2, 2): "both failing tests fail"
            case (_, also): "all \(Figures.grouped(also)) failing tests fail"
            case (1, _): "1 of \(Figures.grouped(all)) failing tests fails"
            default: "\(Figures.grouped(also)) of \(Figures.grouped(all)) failing tests fail"
            }
        headline = "\(who) on \(target) too (run \(comparison.against))"
    }

    /// The verdict's reason, preceded by the headline; if the change has failures of its own, the headline comes last.
    public func reason(_ reason: String) -> String {
        if reason.contains(headline) { return reason }
        return isWhole ? "\(headline); \(reason)" : "\(reason); \(headline)"
    }
}
