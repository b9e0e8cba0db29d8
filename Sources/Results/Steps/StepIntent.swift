public import Foundation

/// What a step is about to do, written down before it does it.
public struct StepIntent: Sendable, Equatable, Codable {
    public var step: String
    /// The step's own attempt: 1 for the first.
    public var attempt: Int
    /// As a person would type it.
    public var command: String
    /// Whether doing it twice is as good as doing it once.
    public var isIdempotent: Bool
    public var startedAt: Date

    public init(step: String, attempt: Int, command: String, isIdempotent: Bool, startedAt: Date) {
        self.step = step
        self.attempt = attempt
        self.command = command
        self.isIdempotent = isIdempotent
        self.startedAt = startedAt
    }
}
