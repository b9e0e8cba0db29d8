/// One change in the queue.
public struct QueueEntry: Sendable, Equatable, Codable, Identifiable {
    /// Unique in its queue. Ids increase in the order of queueing.
    public var id: Int
    /// The name of the change.
    public var change: String
    /// The commit that was queued. A push to the change removes the entry from the queue.
    public var head: String
    /// The first line of the commit's message. It comes from the author of the change and is untrusted.
    public var title: String
    /// Entries with a larger one come first.
    public var priority: Int
    /// The person who queued the change, as text for people.
    public var askedBy: String
    /// When the change was queued, in milliseconds since 1970.
    public var askedAt: Int
    /// The label because of which it is in line; nil if a person asked for it by other means.
    public var label: String?

    init(id: Int, _ wish: QueueWish) {
        self.id = id
        change = wish.change
        head = wish.head
        title = wish.title
        priority = wish.priority
        askedBy = wish.askedBy
        askedAt = wish.askedAt
        label = wish.label
    }
}

/// A request to land a change.
public struct QueueWish: Sendable, Equatable {
    public var change: String
    public var head: String
    public var title: String
    public var priority: Int
    public var askedBy: String
    /// In milliseconds since 1970.
    public var askedAt: Int
    /// The label that asks for it; nil if a person does by other means.
    public var label: String?

    public init(
        change: String, head: String, title: String = "", priority: Int = 0, askedBy: String = "", askedAt: Int = 0,
        label: String? = nil
    ) {
        self.change = change
        self.head = head
        self.title = title
        self.priority = priority
        self.askedBy = askedBy
        self.askedAt = askedAt
        self.label = label
    }
}

/// Who moves the target.
public enum QueueMover: String, Sendable, Codable {
    /// The queue, with a push that names the commit that it expects.
    case push
    /// A forge, which is asked to merge and makes commits of its own.
    case forge
}

/// The rules of a queue, as the target declares them.
public struct QueueRules: Sendable, Equatable, Codable {
    /// The names of the workflows that must pass.
    public var workflows: [String]
    /// How a change becomes part of the target. When the method changes, commits made by another one are discarded.
    public var method: String
    /// Identifies the workflow definition. A commit that passed with another definition is tested again.
    public var definition: String
    /// Maximum number of changes that one run tests together, at least 1.
    public var batchSize: Int
    /// Maximum number of batches that are tested at the same time, at least 1.
    public var depth: Int
    /// After this many attempts, the verdict "flaky" counts as failed; at least 1.
    public var attempts: Int
    /// Who moves the target; nil, in states that an older version stored, means a push.
    public var mover: QueueMover?

    public init(
        workflows: [String], method: String, definition: String = "", batchSize: Int = 4, depth: Int = 2,
        attempts: Int = 2, mover: QueueMover = .push
    ) {
        self.workflows = workflows
        self.method = method
        self.definition = definition
        self.mover = mover
        // A forge merges one change at a time, and the target must never have a tree that no run passed.
        self.batchSize = mover == .forge ? 1 : max(batchSize, 1)
        self.depth = max(depth, 1)
        self.attempts = max(attempts, 1)
    }
}
