internal import Foundation

/// The rule for runs that were running when the daemon ended, without a database.
///
/// docs/reliability.md describes it.
package enum Recovery {
    /// A run that was running each time when the daemon ended this often is not started again automatically.
    package static let interruptions = 3

    package static func outcome(
        of id: RunID, _ request: RunRequest, attempt: Int, supersededBy: RunID?, intents: [RecordedIntent]
    ) -> RecoveredRun.Outcome {
        // This comes before all other rules: possible effects on the outside world must not go unnoticed.
        let acts = intents.filter { !$0.intent.isIdempotent }
        guard acts.isEmpty else { return .ended(.infrastructure, reason: unknown(id, acts)) }
        if let supersededBy { return .ended(.superseded, reason: "Run \(supersededBy) took its place.") }
        if request.options.isForeground {
            return .ended(
                .infrastructure,
                reason: "interrupted: the daemon ended while it ran. `pipectl rerun \(id)` starts it again.")
        }
        guard attempt < interruptions else {
            return .ended(
                .infrastructure,
                reason:
                    "interrupted: the daemon ended \(attempt) times in a row while it ran, so it is not started again "
                    + "automatically. Check what it does to the build box; `pipectl rerun \(id)` starts it again.")
        }
        return .queued(attempt: attempt + 1)
    }

    private static func unknown(_ id: RunID, _ acts: [RecordedIntent]) -> String {
        // Steps with unknown results come first, because a person must check those.
        let ordered = acts.filter { $0.status == nil } + acts.filter { $0.status != nil }
        var facts = ordered.prefix(5).map(\.sentence)
        if ordered.count > facts.count { facts.append("\(ordered.count - facts.count) more are in the report") }
        return
            "unknown: check it by hand: \(facts.joined(separator: "; ")). Check what was done; `pipectl rerun \(id)` "
            + "repeats all of it."
    }
}

extension RecordedIntent {
    /// `step "publish" (make publish) was started at … on attempt 1 and its result is not known`
    var sentence: String {
        let command = intent.command.split(whereSeparator: \.isNewline).joined(separator: " ")
        let shown = command.count > 80 ? command.prefix(79) + "…" : command[...]
        let tries = intent.attempt > 1 ? ", try \(intent.attempt)," : ""
        let start =
            "step \"\(intent.step)\" (\(shown)) was started at \(intent.startedAt.iso8601) on attempt \(runAttempt)\(tries)"
        guard let status else { return "\(start) and its result is not known" }
        return "\(start) and \(status.pastTense)"
    }

    /// The same as a finding for the report, with advice that depends on the step's declaration.
    public var finding: Finding {
        Finding(
            rule: "intent", severity: status == nil && !intent.isIdempotent ? .error : .note,
            message: sentence + (intent.isIdempotent ? " (idempotent)" : ""), file: nil, line: nil, column: nil,
            suggestion: status == nil && !intent.isIdempotent
                ? "check whether it was done before you repeat it" : nil)
    }
}

extension StepStatus {
    fileprivate var pastTense: String {
        switch self {
        case .passed: "passed"
        case .failed: "failed"
        case .timedOut: "took too long"
        case .cancelled: "was cancelled"
        case .skipped: "was skipped"
        case .infrastructure: "failed because of the build box"
        case .waiting, .running: "had not ended"
        }
    }
}
