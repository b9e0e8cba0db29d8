public import Results

/// Where the steps of a run that acts on the world are written down.
public struct StepJournal: Sendable {
    /// Records an intent for good; the step is started when this returns, and is not when it throws.
    var begin: @Sendable (_ intent: StepIntent) async throws -> Void
    /// Records how the attempt ended. One whose intent was never recorded may come too.
    var end: @Sendable (_ step: String, _ attempt: AttemptRecord) async -> Void

    public init(
        begin: @escaping @Sendable (_ intent: StepIntent) async throws -> Void,
        end: @escaping @Sendable (_ step: String, _ attempt: AttemptRecord) async -> Void
    ) {
        self.begin = begin
        self.end = end
    }
}

/// Why a step was not started although everything was ready.
struct UnrecordedIntent: Error, CustomStringConvertible {
    let cause: any Error

    var description: String { "its start could not be recorded: \(cause)" }
}
