/// A closure step's own words for why it failed; thrown, it fails the step with this sentence.
public struct StepFailure: Error, Sendable, CustomStringConvertible {
    public let description: String
    public let file: String
    public let line: Int

    public init(_ description: String, file: String = #fileID, line: Int = #line) {
        self.description = description
        self.file = file
        self.line = line
    }
}
