public import Foundation

/// How a repository is watched.
public struct WatchOptions: Sendable {
    /// The time between two observations if nothing wakes the watcher. Nil: half a minute; three minutes if file events
    /// are complete, since polling is then only a safety net.
    public var interval: Duration?
    /// Globs over names of branches that are changes.
    public var changePatterns: [String] = []
    /// The target of changes; nil means the repository's default branch.
    public var target: String?
    /// At the first observation, changes and commits since then are treated as new.
    public var since: Date?
    /// How long a fetch may take.
    public var fetchDeadline: Duration = .seconds(300)

    public init() {}
}

/// A repository to watch, with options.
public struct WatchRequest: Sendable {
    /// A path or URL.
    public var location: String
    /// The wanted name, used if the repository is new and the name is free.
    public var name: String?
    /// How to watch it.
    public var options: WatchOptions

    public init(location: String, name: String?, options: WatchOptions) {
        (self.location, self.name, self.options) = (location, name, options)
    }
}
