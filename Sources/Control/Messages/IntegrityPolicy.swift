public import Pipeline

/// The rules by which changes of a repository are checked for weakened tests.
public struct IntegrityPolicy: Sendable, Codable {
    /// The repository's name.
    public var repository: String
    /// The folder with its objects and refs on this machine.
    public var gitDirectory: String
    /// The branch that changes merge into; nil until it is known.
    public var target: String?
    /// The tip of ``target``, hexadecimal.
    public var targetCommit: String?
    /// The rules that the target's workflows name with `.testIntegrity()`, all together; nil where none does.
    public var rules: [IntegrityRule]?
    /// Why the target's workflows can't be read; nil where they can.
    public var problem: String?

    package init(repository: String, gitDirectory: String) {
        self.repository = repository
        self.gitDirectory = gitDirectory
    }
}
