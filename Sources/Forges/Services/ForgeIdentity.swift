public import Foundation

/// A right that pipectl uses at a forge, and whether it has it.
public struct ForgePermission: Sendable, Equatable, Codable {
    /// The forge's name for it: `checks: write`.
    public var name: String
    /// What pipectl uses it for: `show verdicts`.
    public var purpose: String
    /// Whether pipectl can show verdicts only with it. The others are for features that not every team uses.
    public var isNeeded = true
    public var isGranted: Bool
    /// How to get it, if it is missing.
    public var remedy: String?
}

/// How many requests a forge still takes.
public struct ForgeRateLimit: Sendable, Equatable, Codable {
    public var limit: Int
    public var remaining: Int
    /// When all of ``limit`` may be sent again; nil if the forge does not say.
    public var resetsAt: Date?

    /// From the headers of an answer, which GitHub and GitLab send; nil without them.
    init?(_ headers: [String: String]) {
        func number(_ name: String) -> Int? { (headers["x-\(name)"] ?? headers[name]).flatMap { Int($0) } }
        guard let limit = number("ratelimit-limit"), let remaining = number("ratelimit-remaining") else { return nil }
        self.limit = limit
        self.remaining = remaining
        resetsAt = number("ratelimit-reset").map { Date(timeIntervalSince1970: Double($0)) }
    }
}

/// Who pipectl is at a forge, and what it may do there.
public struct ForgeIdentity: Sendable, Equatable, Codable {
    /// The account that writes the comments: `pipectl[bot]`.
    public var login: String
    public var permissions: [ForgePermission]
    /// Nil if the forge does not say.
    public var rateLimit: ForgeRateLimit?

    /// What verdicts can't be shown without.
    public var lacking: [ForgePermission] { permissions.filter { $0.isNeeded && !$0.isGranted } }
}
