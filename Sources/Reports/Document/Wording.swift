public import Results
import TerminalText

/// The words and symbols for states, results and proofs, the same in every format.
public enum Wording {
    /// The first ten digits of a commit id.
    static func short(_ commit: String) -> String { String(commit.prefix(10)) }

    /// One symbol for each verdict, the same everywhere.
    public static func symbol(_ verdict: Verdict) -> String {
        switch verdict {
        case .passed: "✓"
        case .failed, .definitionError: "✗"
        case .conflict: "⑂"
        case .flaky: "≈"
        case .infrastructure: "!"
        case .superseded: "»"
        case .cancelled: "■"
        case .needsApproval: "?"
        case .notApplicable: "–"
        }
    }

    /// One symbol for each status of a step, the same everywhere.
    public static func symbol(_ status: StepStatus) -> String {
        switch status {
        case .passed: "✓"
        case .failed, .timedOut: "✗"
        case .infrastructure: "!"
        case .cancelled: "■"
        case .skipped: "–"
        case .waiting: "·"
        case .running: "▶"
        }
    }

    /// The symbol of a check of this machine.
    public static func symbol(ofGood isGood: Bool) -> String { symbol(isGood ? Verdict.passed : .failed) }

    /// The colour of a verdict, as the parameter of an SGR sequence (ECMA-48); symbols alone tell verdicts apart.
    public static func colour(_ verdict: Verdict) -> String {
        switch verdict {
        case .passed: "32"
        case .failed, .conflict, .definitionError: "31"
        case .infrastructure: "35"
        case .flaky, .needsApproval: "33"
        case .superseded, .cancelled, .notApplicable: "2"
        }
    }

    /// The colour of a step's status, likewise.
    public static func colour(_ status: StepStatus) -> String {
        switch status {
        case .passed: colour(Verdict.passed)
        case .failed, .timedOut: colour(Verdict.failed)
        case .infrastructure: colour(Verdict.infrastructure)
        case .cancelled: "33"
        case .skipped, .waiting: "2"
        case .running: "36"
        }
    }

    package static func title(_ status: StepStatus) -> String { status == .timedOut ? "timed out" : status.rawValue }

    /// `proved by run 12 of 1a2b3c4d5e` or `passed in run 12`, for a step that was not run; nil for other steps.
    static func proof(_ step: StepRecord) -> String? {
        step.provedBy.map { "proved by \(run($0))" } ?? step.carriedFrom.map { "passed in run \($0.run)" }
    }

    /// `run 12 of 1a2b3c4d5e`: the run, and its pushed commit if the report has it.
    static func run(_ proof: ProofCitation) -> String {
        "run \(proof.run)" + (proof.head.map { " of \(TerminalText.name(short($0)))" } ?? "")
    }

    static func title(_ status: TestResult.Status) -> String {
        status == .expectedFailure ? "expected failure" : status.rawValue
    }

    /// `1,203 passed, 2 failed, 3 skipped`, without parts that are zero.
    static func counts(_ counts: TestCounts) -> String {
        guard counts.total > 0 else { return "no tests" }
        var parts: [String] = []
        if counts.failed > 0 { parts.append("\(Figures.grouped(counts.failed)) failed") }
        if counts.passed > 0 { parts.append("\(Figures.grouped(counts.passed)) passed") }
        if counts.skipped > 0 { parts.append("\(Figures.grouped(counts.skipped)) skipped") }
        if counts.expectedFailures > 0 {
            parts.append(Figures.count(counts.expectedFailures, "expected failure"))
        }
        return parts.joined(separator: ", ")
    }
}
