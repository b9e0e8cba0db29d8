public import Foundation

/// What a step is about to do. It is recorded before the step starts.
public struct StepIntent: Sendable, Equatable, Codable {
    /// The step's name.
    public var step: String
    /// The step's attempt, from 1.
    public var attempt: Int
    /// The command as one would type it in a shell.
    public var command: String
    /// Whether running it twice does no harm.
    public var isIdempotent: Bool
    /// When the attempt was about to start.
    public var startedAt: Date

    public init(step: String, attempt: Int, command: String, isIdempotent: Bool, startedAt: Date) {
        self.step = step
        self.attempt = attempt
        self.command = command
        self.isIdempotent = isIdempotent
        self.startedAt = startedAt
    }
}
