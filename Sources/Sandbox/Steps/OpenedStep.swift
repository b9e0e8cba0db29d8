/// A command that a person runs like a step: in its sandbox, with its variables, but without its secrets.
public struct OpenedStep: Sendable {
    /// The full command, which enters the sandbox first.
    public var words: [String]
    /// All environment variables of the command.
    public var environment: [String: String]

    public init(words: [String], environment: [String: String]) {
        self.words = words
        self.environment = environment
    }
}
