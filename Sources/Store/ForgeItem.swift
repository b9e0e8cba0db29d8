public import Foundation
public import Results

/// A repository's connection to a forge.
public struct ForgeRecord: Sendable, Equatable {
    /// The watched repository's name.
    public var repository: String
    /// What the room of forges wrote: the address.
    public var address: String
    /// When the connection was made.
    public var connectedAt: Date
}

/// A thing at a forge, such as the check of a commit, with the newest state that it is to show.
public struct ForgeItem: Sendable, Equatable, Identifiable {
    /// The row's number.
    public var id: Int64
    /// The watched repository's name.
    public var repository: String
    /// What it is; unique for the repository: `check test 3f2a…`.
    public var thing: String
    /// The newest wanted state, as JSON.
    public var wanted: String
    /// Counts the wanted states, from 1.
    public var version: Int
    /// The version that the forge has; 0 before the first.
    public var sentVersion: Int
    /// What the forge's answer named it.
    public var known: String?
    /// How often the delivery failed since the last success.
    public var failures: Int
    /// Whether a delivery was begun whose end is not known.
    public var isUncertain: Bool
    /// Not to be tried before this time.
    public var dueAt: Date
    /// Why the forge will never take this state; nil while it is tried.
    public var refusal: String?
}

/// A run whose state at the forge may be behind.
public struct ForgeRunNews: Sendable, Equatable {
    /// The run's number.
    public var run: RunID
    /// The run's present state.
    public var state: RunState
}
