public import Results

/// Records the steps of a run that has effects outside, so that none of them runs twice.
public struct StepJournal: Sendable {
    /// Records an intent durably. The step starts when this returns, and does not start if it throws.
    var begin: @Sendable (_ intent: StepIntent) async throws -> Void
    /// Records how the attempt ended. It may be called for an attempt whose intent was never recorded.
    var end: @Sendable (_ step: String, _ attempt: AttemptRecord) async -> Void

    public init(
        begin: @escaping @Sendable (_ intent: StepIntent) async throws -> Void,
        end: @escaping @Sendable (_ step: String, _ attempt: AttemptRecord) async -> Void
    ) {
        self.begin = begin
        self.end = end
    }
}

/// Why a step that was ready was not started.
struct UnrecordedIntent: Error, CustomStringConvertible {
    let cause: any Error

    var description: String { "its start could not be recorded: \(cause)" }
}
