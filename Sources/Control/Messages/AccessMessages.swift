public import Foundation

/// What somebody with a token may do at the pages and by the API.
public enum TokenScope: String, Sendable, Codable, CaseIterable {
    /// See everything, and act on nothing.
    case read
    /// See everything, and act: repeat, cancel, approve, land.
    case operate
    /// Say who asks: a proxy that people log in to sends it with each request.
    case proxy
}

/// A request to make a token.
public struct TokenRequest: Sendable, Codable, Equatable {
    /// For people; no two tokens have the same one.
    public var name: String
    public var scope: TokenScope
    /// When it becomes invalid; nil: never.
    public var expiresAt: Date?

    public init(name: String, scope: TokenScope, expiresAt: Date? = nil) {
        self.name = name
        self.scope = scope
        self.expiresAt = expiresAt
    }
}

/// What is known of a token. Its text is not.
public struct TokenStatus: Sendable, Codable, Equatable {
    public var name: String
    /// The first characters after `pipectl_`, by which a token that leaked is recognised.
    public var id: String
    public var scope: TokenScope
    public var createdAt: Date
    /// When it becomes invalid; nil: never.
    public var expiresAt: Date?
    /// When it was last used, to the minute; nil: never.
    public var lastUsedAt: Date?

    public init(
        name: String, id: String, scope: TokenScope, createdAt: Date, expiresAt: Date? = nil, lastUsedAt: Date? = nil
    ) {
        self.name = name
        self.id = id
        self.scope = scope
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.lastUsedAt = lastUsedAt
    }
}
