public import Foundation

/// A recorded ``StepIntent``, with its result if that is known.
public struct RecordedIntent: Sendable, Equatable {
    /// What the step was about to do.
    public var intent: StepIntent
    /// The run's attempt that it belongs to.
    public var runAttempt: Int
    /// Nil if it is not known how the step ended.
    public var status: StepStatus?
    public var endedAt: Date?

    public init(_ intent: StepIntent, runAttempt: Int, status: StepStatus? = nil, endedAt: Date? = nil) {
        self.intent = intent
        self.runAttempt = runAttempt
        self.status = status
        self.endedAt = endedAt
    }
}
