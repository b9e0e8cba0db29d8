/// A command that a person wants run as a step would be: in its sandbox, with its variables, and without its secrets.
public struct OpenedStep: Sendable {
    /// What is started, with the words that lead into the sandbox.
    public var words: [String]
    public var environment: [String: String]

    public init(words: [String], environment: [String: String]) {
        self.words = words
        self.environment = environment
    }
}
