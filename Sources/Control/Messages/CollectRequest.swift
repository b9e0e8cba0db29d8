public import Results

/// Which runs are to be removed from the archive.
public struct CollectRequest: Sendable, Codable {
    /// How much history to keep.
    public var policy: RetentionPolicy
    /// Whether the reply only says what would be removed.
    public var isDryRun: Bool

    public init(policy: RetentionPolicy, isDryRun: Bool) {
        self.policy = policy
        self.isDryRun = isDryRun
    }
}

/// What ``DaemonRequest/collect(_:)`` removed, or would remove.
public struct CollectReply: Sendable, Codable {
    /// What was removed, or would be.
    public var plan: RetentionPlan
    /// Whether nothing was removed.
    public var isDryRun: Bool
    /// Stores of clones that no longer exist; nil from a daemon of an older version.
    public var stores: [AbandonedStore]?

    package init(plan: RetentionPlan, isDryRun: Bool, stores: [AbandonedStore]?) {
        self.plan = plan
        self.isDryRun = isDryRun
        self.stores = stores
    }
}

/// A store that the daemon made for runs of a clone that no longer exists.
public struct AbandonedStore: Sendable, Codable, Equatable {
    /// The name of its folder in `mirrors/` of the state folder.
    public var name: String
    /// The absolute path at which the clone had its objects.
    public var clone: String

    package init(name: String, clone: String) {
        self.name = name
        self.clone = clone
    }
}
