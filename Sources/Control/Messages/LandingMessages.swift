public import Foundation
public import Results

/// A request to put a change into the merge queue of its target.
public struct LandRequest: Sendable, Codable, Equatable {
    /// The repository's name, path or URL.
    public var repository: String
    /// The change's name: a number, or a branch.
    public var change: String
    /// Changes with a larger one land first.
    public var priority: Int
    /// The commit that is to land, where the caller saw one: another head is refused. Nil: the head that the change has.
    public var head: String?
    /// Who asks, in words, where it isn't the user at the other end of the socket: `@ada at GitHub`.
    public var askedBy: String?

    public init(
        repository: String, change: String, priority: Int = 0, head: String? = nil, askedBy: String? = nil
    ) {
        self.repository = repository
        self.change = change
        self.priority = priority
        self.head = head
        self.askedBy = askedBy
    }
}

/// A request to take a change out of the merge queue.
public struct CancelLandingRequest: Sendable, Codable, Equatable {
    /// The repository's name, path or URL.
    public var repository: String
    public var change: String

    public init(repository: String, change: String) {
        self.repository = repository
        self.change = change
    }
}

/// A request to freeze merge queues, or to let them go on.
public struct FreezeRequest: Sendable, Codable, Equatable {
    /// The repository's name, path or URL.
    public var repository: String
    /// The target branch; nil: all queues of the repository.
    public var branch: String?
    /// Why nothing lands; nil: the queue goes on.
    public var reason: String?

    public init(repository: String, branch: String? = nil, reason: String?) {
        self.repository = repository
        self.branch = branch
        self.reason = reason
    }
}

/// What is known of the merge queue of one branch.
public struct MergeQueueStatus: Sendable, Codable, Equatable {
    public var repository: String
    /// The target branch.
    public var branch: String
    /// The commit that the branch is at, as the queue last saw it.
    public var target: String
    /// Why nothing is tested or landed; nil: it goes on.
    public var frozen: String?
    /// Whether the branch declares a landing. Without one, the queue waits.
    public var isDeclared: Bool
    /// In the order in which they land.
    public var entries: [Entry]
    /// The newest first.
    public var ended: [Ended]

    /// A change in the queue.
    public struct Entry: Sendable, Codable, Equatable {
        /// From 1 for the one that lands next.
        public var position: Int
        public var change: String
        /// The first line of the change's message; foreign text.
        public var title: String
        public var head: String
        public var priority: Int
        public var askedBy: String
        public var askedAt: Date
        public var state: State
        /// The changes that it is tested on top of, in order, and those that are tested with it.
        public var onTopOf: [String]
        public var with: [String]
        /// The runs that test it now.
        public var runs: [RunID]
        /// When it will have landed, if nothing fails; nil where nothing is known of how long runs take.
        public var estimate: Date?
        /// Why it failed on top of others; it is asked again once these are decided.
        public var reason: String?
        /// Other open changes that it conflicts with, as far as is known.
        public var conflicts: [String]

        public enum State: String, Sendable, Codable {
            /// Not tested yet.
            case waiting
            case testing
            /// Passed, and waits for those before it.
            case passed
            /// Failed on top of those before it, which are not decided.
            case suspected
            /// The target is about to be moved.
            case landing
        }

        public init(
            position: Int, change: String, title: String, head: String, priority: Int, askedBy: String,
            askedAt: Date, state: State
        ) {
            self.position = position
            self.change = change
            self.title = title
            self.head = head
            self.priority = priority
            self.askedBy = askedBy
            self.askedAt = askedAt
            self.state = state
            (onTopOf, with, runs, conflicts) = ([], [], [], [])
        }
    }

    /// A change that has left the queue.
    public struct Ended: Sendable, Codable, Equatable {
        public var change: String
        public var head: String
        /// `landed`, `landedElsewhere`, `conflict`, `failed` or `withdrawn`.
        public var outcome: String
        /// Why, as a sentence.
        public var reason: String
        /// The commit of the branch that completed it; nil unless it landed.
        public var commit: String?
        /// The runs that tell why.
        public var runs: [RunID]
        public var endedAt: Date
        /// Whether it landed on top of something else than it was tested with; nil for no.
        public var isUntested: Bool?

        public init(
            change: String, head: String, outcome: String, reason: String, commit: String?, runs: [RunID],
            endedAt: Date, isUntested: Bool = false
        ) {
            self.change = change
            self.head = head
            self.outcome = outcome
            self.reason = reason
            self.commit = commit
            self.runs = runs
            self.endedAt = endedAt
            self.isUntested = isUntested ? true : nil
        }
    }

    public init(
        repository: String, branch: String, target: String, frozen: String?, isDeclared: Bool,
        entries: [Entry], ended: [Ended]
    ) {
        self.repository = repository
        self.branch = branch
        self.target = target
        self.frozen = frozen
        self.isDeclared = isDeclared
        self.entries = entries
        self.ended = ended
    }
}
