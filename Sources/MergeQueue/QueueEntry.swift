/// One change in the queue.
public struct QueueEntry: Sendable, Equatable, Codable, Identifiable {
    /// Unique in the queue; a later entry has a larger one.
    public var id: Int
    /// The name of the change.
    public var change: String
    /// The commit that was queued. A change that is pushed to leaves the queue.
    public var head: String
    /// The first line of its message, which is foreign text.
    public var title: String
    /// Entries with a larger one come first.
    public var priority: Int
    /// Who asked for it, in words.
    public var askedBy: String
    /// When it was asked for, in milliseconds since 1970.
    public var askedAt: Int

    init(id: Int, _ wish: QueueWish) {
        self.id = id
        change = wish.change
        head = wish.head
        title = wish.title
        priority = wish.priority
        askedBy = wish.askedBy
        askedAt = wish.askedAt
    }
}

/// A wish to land a change.
public struct QueueWish: Sendable, Equatable {
    public var change: String
    public var head: String
    public var title: String
    public var priority: Int
    public var askedBy: String
    /// In milliseconds since 1970.
    public var askedAt: Int

    public init(
        change: String, head: String, title: String = "", priority: Int = 0, askedBy: String = "", askedAt: Int = 0
    ) {
        self.change = change
        self.head = head
        self.title = title
        self.priority = priority
        self.askedBy = askedBy
        self.askedAt = askedAt
    }
}

/// The rules of a queue, as the target declares them.
public struct QueueRules: Sendable, Equatable, Codable {
    /// The names of the workflows that must pass.
    public var workflows: [String]
    /// How a change becomes part of the target. Commits made by another method are made anew.
    public var method: String
    /// Names the definition of the workflows. What passed by another one is tested again.
    public var definition: String
    /// Changes that one run tests together, at least 1.
    public var batchSize: Int
    /// Batches that are tested at a time, at least 1.
    public var depth: Int
    /// How often a commit is tested before a verdict "flaky" counts as failed, at least 1.
    public var attempts: Int

    public init(
        workflows: [String], method: String, definition: String = "", batchSize: Int = 4, depth: Int = 2,
        attempts: Int = 2
    ) {
        self.workflows = workflows
        self.method = method
        self.definition = definition
        self.batchSize = max(batchSize, 1)
        self.depth = max(depth, 1)
        self.attempts = max(attempts, 1)
    }
}
