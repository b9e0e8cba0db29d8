/// What a command may know of a repository.
public struct RepositoryFacts: Sendable, Codable, Equatable {
    /// The name, unique on the daemon.
    public var name: String
    /// The path or URL that is watched.
    public var location: String
    /// The folder with its objects and refs on this machine.
    public var gitDirectory: String
    /// Whether the daemon that answers watches it.
    public var isWatched: Bool
    /// Globs over branches that are changes.
    public var changePatterns: [String]
    /// The branch that changes merge into, if the daemon was told.
    public var target: String?

    package init(
        name: String, location: String, gitDirectory: String, isWatched: Bool, changePatterns: [String],
        target: String?
    ) {
        self.name = name
        self.location = location
        self.gitDirectory = gitDirectory
        self.isWatched = isWatched
        self.changePatterns = changePatterns
        self.target = target
    }
}
