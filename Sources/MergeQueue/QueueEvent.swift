/// What happened to a queue.
public enum QueueEvent: Sendable, Equatable {
    /// Somebody wants a change to land. A change that is in the queue with the same head gets the new priority; with
    /// another head, it begins at the end.
    case enqueue(QueueWish)
    /// Somebody takes a change out.
    case withdraw(change: String)
    /// The change was pushed to; `head` is its new commit.
    case pushed(change: String, head: String)
    /// The change is closed.
    case closed(change: String)
    /// The change is in the target, by other hands.
    case landedElsewhere(change: String, commit: String)
    /// Nothing more is tested or landed, for this reason.
    case freeze(String)
    case resume
    /// Entries were merged on top of a commit, in order; after one that can't be merged there are no more.
    case built(on: String, entries: [Int], [BuiltEntry])
    /// Runs of a commit were started, or found.
    case started(commit: String, runs: [String: Int64])
    /// The runs of a commit have ended.
    case tested(commit: String, TestOutcome)
    /// The target is at the intended commit; `rules` are those that it declares, nil for none.
    case landed(commit: String, QueueRules?)
    /// The intended landing was refused for good, for this reason.
    case refused(String)
    /// The target is at a commit that the queue did not put there.
    case targetMoved(to: String, QueueRules?)
}

/// What became of one entry that was merged.
public enum BuiltEntry: Sendable, Equatable {
    case commit(String, tree: String)
    case failed(QueueFailure)
}

/// What the runs of a commit say.
public enum TestOutcome: Sendable, Equatable {
    case passed
    case failed
    case flaky
    /// The build box failed: nothing is known about the commit. The reason is a sentence.
    case undecided(String)
    /// Somebody cancelled a run: the queue waits for a person.
    case cancelled(String)
}

/// What is to be done for a queue now. All are idempotent: whoever does one twice does the same.
public enum QueueAction: Sendable, Equatable {
    /// Merge `entries` one after the other on top of the commit `on`.
    case build(on: String, [QueueEntry])
    /// Have the commit tested, or find the runs that do.
    case test(StackResult)
    /// Move the target, if it is still where it must be.
    case push(LandingIntent)
}

/// An entry that has left the queue.
public struct Departure: Sendable, Equatable {
    public enum Reason: Sendable, Equatable {
        /// It landed. `commit` is the one that completed it, `tip` the one that the target was moved to.
        case landed(commit: String, tip: String)
        /// It landed by other hands.
        case landedElsewhere(commit: String)
        case failed(QueueFailure)
        /// It was pushed to.
        case pushed(head: String)
        case closed
        case withdrawn
    }

    public var entry: QueueEntry
    public var reason: Reason
    /// The runs that tell why, by the workflow's name.
    public var runs: [String: Int64]

    public init(entry: QueueEntry, reason: Reason, runs: [String: Int64] = [:]) {
        self.entry = entry
        self.reason = reason
        self.runs = runs
    }
}
