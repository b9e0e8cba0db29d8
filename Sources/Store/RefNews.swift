public import Results
public import Git

/// What a look finds new in a repository's refs, beside what earlier looks knew of it.
public struct RefNews: Sendable, Equatable {
    /// Sorted by name.
    public var moves: [RefChange]
    /// The changes that were asked for, in no order; one that no look has seen is missing.
    public var known: [ChangeRecord]

    public init(moves: [RefChange], known: [ChangeRecord]) {
        self.moves = moves
        self.known = known
    }
}

/// Which changes of a repository are meant.
public enum ChangeSelection: Sendable, Equatable {
    case all
    case named([String])
}
