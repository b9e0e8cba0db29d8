public import Results
public import Git

/// The differences between a repository's refs and those of the last observation.
public struct RefNews: Sendable, Equatable {
    /// Sorted by name.
    public var moves: [RefChange]
    /// The changes that were asked for, in any order. Changes that no observation has seen are missing.
    public var known: [ChangeRecord]

    public init(moves: [RefChange], known: [ChangeRecord]) {
        self.moves = moves
        self.known = known
    }
}

/// Which changes of a repository are selected.
public enum ChangeSelection: Sendable, Equatable {
    case all
    case named([String])
}
