internal import Foundation

/// The rule for runs that were running when the daemon ended, without a database.
///
/// docs/reliability.md describes it.
package enum Recovery {
    /// A run that was running each time when the daemon ended this often is not started again automatically.
    package static let interruptions = 3
    /// The same for a run that is not started again, since its steps go on elsewhere.
    package static let takeOvers = 10

    /// - Parameter mayGoOn: Whether its steps may still run on another machine, where the next attempt takes them over.
    package static func outcome(
        of id: RunID, _ request: RunRequest, attempt: Int, supersededBy: RunID?, intents: [RecordedIntent],
        mayGoOn: Bool = false
    ) -> RecoveredRun.Outcome {
        let mayRepeat = attempt < (mayGoOn ? takeOvers : interruptions)
        // This comes before all other rules: possible effects on the outside world must not go unnoticed.
        if let reason = unknownActs(of: id, intents) {
            let goesOn = mayGoOn && supersededBy == nil && mayRepeat
            return goesOn ? .queued(attempt: attempt + 1) : .ended(.infrastructure, reason: reason)
        }
        if let supersededBy { return .ended(.superseded, reason: "Run \(supersededBy) took its place.") }
        if request.options.isForeground {
            return .ended(
                .infrastructure,
                reason: "interrupted: the daemon ended while it ran. `pipectl rerun \(id)` starts it again.")
        }
        guard mayRepeat else {
            return .ended(
                .infrastructure,
                reason:
                    "interrupted: the daemon ended \(attempt) times in a row while it ran, so it is not started again "
                    + "automatically. Check what it does to the build box; `pipectl rerun \(id)` starts it again.")
        }
        return .queued(attempt: attempt + 1)
    }

    /// What a person must check before a run is repeated, as a sentence; nil if none of its steps may have acted.
    package static func unknownActs(of id: RunID, _ intents: [RecordedIntent]) -> String? {
        let acts = intents.filter { !$0.intent.isIdempotent }
        guard !acts.isEmpty else { return nil }
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
