/// Why a closure step failed. Thrown from the closure, it fails the step with this sentence.
public struct StepFailure: Error, Sendable, CustomStringConvertible {
    /// The reason that the report shows.
    public let description: String
    /// The source file that threw it.
    public let file: String
    /// The line in ``file``.
    public let line: Int

    /// Fails the step with this sentence, and records where it was made.
    public init(_ description: String, file: String = #fileID, line: Int = #line) {
        self.description = description
        self.file = file
        self.line = line
    }
}
