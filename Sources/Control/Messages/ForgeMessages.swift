public import Foundation

/// A request to show verdicts at a forge.
public struct ForgeConnectRequest: Sendable, Codable, Equatable {
    /// The repository's name, path or URL.
    public var repository: String
    /// The forge's address as the room of forges writes it.
    public var address: String

    public init(repository: String, address: String) {
        self.repository = repository
        self.address = address
    }
}

/// A repository's connection to a forge, and what the forge does not show yet.
public struct ForgeStatus: Sendable, Codable, Equatable {
    /// The watched repository's name.
    public var repository: String
    /// The forge's address as the room of forges writes it.
    public var address: String
    /// When the connection was made.
    public var connectedAt: Date
    /// States that wait for their delivery.
    public var undelivered: Int
    /// Failed tries of the state that fails most.
    public var failures: Int
    /// When the next delivery is tried; nil while nothing waits.
    public var nextTry: Date?
    /// What the forge refused for good, newest first, at most a hundred.
    public var refusals: [Refusal]

    /// A state that the forge will never show.
    public struct Refusal: Sendable, Codable, Equatable {
        /// What it is about: `check test 3f2a…`, `comment 7`.
        public var thing: String
        /// The forge's reason; may quote foreign text.
        public var reason: String

        public init(thing: String, reason: String) {
            self.thing = thing
            self.reason = reason
        }
    }

    public init(
        repository: String, address: String, connectedAt: Date, undelivered: Int, failures: Int, nextTry: Date?,
        refusals: [Refusal]
    ) {
        self.repository = repository
        self.address = address
        self.connectedAt = connectedAt
        self.undelivered = undelivered
        self.failures = failures
        self.nextTry = nextTry
        self.refusals = refusals
    }
}
