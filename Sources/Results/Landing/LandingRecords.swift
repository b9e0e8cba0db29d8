public import Foundation

/// The merge queue of one branch, as it is stored.
public struct MergeQueueRecord: Sendable, Equatable {
    /// The watched repository's name.
    public var repository: String
    /// The target branch.
    public var branch: String
    /// The state as the room of merge queues writes it.
    public var state: String

    public init(repository: String, branch: String, state: String) {
        self.repository = repository
        self.branch = branch
        self.state = state
    }
}

/// A change that has left a merge queue.
public struct LandingRecord: Sendable, Equatable, Codable {
    /// What became of it. Raw values are what the store has.
    public enum Outcome: String, Sendable, Codable, CaseIterable {
        case landed
        /// It is in the target, by other hands.
        case landedElsewhere
        /// It can't be merged.
        case conflict
        /// A required workflow failed.
        case failed
        /// Somebody took it out, closed it or pushed to it.
        case withdrawn
    }

    public var change: String
    /// The commit that was queued.
    public var head: String
    public var outcome: Outcome
    /// Why, as a sentence.
    public var reason: String
    /// The commit of the target that completed the change; nil unless it landed.
    public var commit: String?
    /// The commit that the target was moved to; nil unless the queue moved it.
    public var tip: String?
    /// How the change became part of the target: `squash`, `merge` or `rebase`; nil unless the queue did it.
    public var method: String?
    /// The runs that tell why, by the workflow's name.
    public var runs: [String: Int64]
    public var askedBy: String
    public var askedAt: Date
    /// When it left the queue.
    public var endedAt: Date
    /// Whether it landed on top of something else than it was tested with.
    public var isUntested: Bool

    public init(
        change: String, head: String, outcome: Outcome, reason: String, commit: String? = nil, tip: String? = nil,
        method: String? = nil, runs: [String: Int64] = [:], askedBy: String, askedAt: Date, endedAt: Date,
        isUntested: Bool = false
    ) {
        self.change = change
        self.head = head
        self.outcome = outcome
        self.reason = reason
        self.commit = commit
        self.tip = tip
        self.method = method
        self.runs = runs
        self.askedBy = askedBy
        self.askedAt = askedAt
        self.endedAt = endedAt
        self.isUntested = isUntested
    }
}

/// A new state of a merge queue, with those who left it by that.
public struct MergeQueueUpdate<Result: Sendable>: Sendable {
    /// Nil: it stays as it is.
    public var state: String?
    public var ended: [LandingRecord]
    /// What the caller wants to know of it.
    public var result: Result

    public init(state: String?, ended: [LandingRecord], result: Result) {
        self.state = state
        self.ended = ended
        self.result = result
    }
}
