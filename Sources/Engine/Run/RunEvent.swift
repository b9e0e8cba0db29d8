public import Results
public import Foundation

/// An event of a run, in order. Terminal, index, sockets and pages are listeners.
///
/// Output bytes are not events: they are written to the log file at once, and listeners may read it while it grows.
public enum RunEvent: Sendable, Equatable, Codable {
    case stepWaiting(step: String, reason: String)
    /// The step waits for an approval and takes no slot meanwhile.
    case stepAwaitsApproval(step: String, since: Date)
    case stepStarted(step: String, attempt: Int, at: Date, machine: String? = nil)
    /// The newest complete line of a step's output, cleaned for a terminal; at most ten a second for each step.
    case stepOutput(step: String, attempt: Int, lastLine: String, bytes: Int)
    case attemptEnded(step: String, attempt: AttemptRecord)
    /// The tests and findings of a step that is about to end. Sent only if there are any.
    case stepLeft(step: String, tests: [TestResult], findings: [Finding])
    case stepEnded(StepRecord)

    /// The name of the step that the event is about.
    public var step: String {
        switch self {
        case .stepWaiting(let step, _), .stepAwaitsApproval(let step, _), .stepStarted(let step, _, _, _),
            .stepOutput(let step, _, _, _), .attemptEnded(let step, _), .stepLeft(let step, _, _):
            step
        case .stepEnded(let record): record.name
        }
    }
}
