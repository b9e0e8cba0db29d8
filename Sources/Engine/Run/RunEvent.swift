public import Results
public import Foundation

/// What happens in a run, in order. Terminal, index, sockets and pages are listeners of these.
///
/// Output bytes are not events: they go to the log file at once, which every listener may read while it grows.
public enum RunEvent: Sendable, Equatable, Codable {
    case stepWaiting(step: String, reason: String)
    /// The step goes on when a person says so; it holds nothing meanwhile.
    case stepAwaitsApproval(step: String, since: Date)
    case stepStarted(step: String, attempt: Int, at: Date)
    /// The newest complete line of a step's output, cleaned for a terminal; at most ten a second for each step.
    case stepOutput(step: String, attempt: Int, lastLine: String, bytes: Int)
    case attemptEnded(step: String, attempt: AttemptRecord)
    /// What a step that is about to end has left; there only if it left anything.
    case stepLeft(step: String, tests: [TestResult], findings: [Finding])
    case stepEnded(StepRecord)

    /// The name of the step that it is about.
    public var step: String {
        switch self {
        case .stepWaiting(let step, _), .stepAwaitsApproval(let step, _), .stepStarted(let step, _, _),
            .stepOutput(let step, _, _, _), .attemptEnded(let step, _), .stepLeft(let step, _, _):
            step
        case .stepEnded(let record): record.name
        }
    }
}
