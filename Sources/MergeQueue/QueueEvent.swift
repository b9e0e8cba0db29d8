/// Something that happened to a queue or to its changes.
public enum QueueEvent: Sendable, Equatable {
    /// A request to land a change. If the change is queued with the same head, only its priority changes; if it is
    /// queued with another head, it moves to the end.
    case enqueue(QueueWish)
    /// A request to remove a change from the queue.
    case withdraw(change: String)
    /// The label because of which a change may be in line was taken away.
    case unlabelled(change: String)
    /// The change was pushed to; `head` is its new commit.
    case pushed(change: String, head: String)
    /// The change is closed.
    case closed(change: String)
    /// The change was merged into the target, but not by this queue.
    case landedElsewhere(change: String, commit: String)
    /// The queue tests and lands nothing from now on. The text is the reason.
    case freeze(String)
    case resume
    /// Entries were merged on top of a commit, in order. The list ends with the first entry that can't be merged.
    case built(on: String, entries: [Int], [BuiltEntry])
    /// Runs that test a commit were started, or had been started before.
    case started(commit: String, runs: [String: Int64])
    /// The runs of a commit have ended.
    case tested(commit: String, TestOutcome)
    /// The target is at the intended commit. The rules are those that this commit declares; nil if it declares none.
    case landed(commit: String, QueueRules?)
    /// The push of the intended landing was finally rejected. The text is the reason.
    case refused(String)
    /// The forge has merged the intended landing as this commit. `isTested` says whether its tree is the one that passed.
    case merged(commit: String, isTested: Bool, QueueRules?)
    /// The forge will never merge the intended landing: its changes leave for this reason.
    case declined(Departure.Reason)
    /// The target is at a commit to which this queue did not move it.
    case targetMoved(to: String, QueueRules?)
}

/// The result of merging one entry.
public enum BuiltEntry: Sendable, Equatable {
    case commit(String, tree: String)
    case failed(QueueFailure)
}

/// The result of all runs of a commit.
public enum TestOutcome: Sendable, Equatable {
    case passed
    case failed
    case flaky
    /// The build box failed, so nothing is known about the commit. The text is the reason, a sentence.
    case undecided(String)
    /// A person cancelled a run. The queue freezes until a person resumes it.
    case cancelled(String)
}

/// What the daemon has to do next for a queue. All actions are idempotent: doing one twice has the effect of doing it
/// once.
public enum QueueAction: Sendable, Equatable {
    /// Merge `entries` one after the other on top of the commit `on`.
    case build(on: String, [QueueEntry])
    /// Start runs that test the commit, or find those that were started before.
    case test(StackResult)
    /// Move the target to the commit, if it is still at the commit that the intent names.
    case push(LandingIntent)
    /// Have the forge merge the change of the intent, if the target is still at the commit that the intent names.
    case merge(LandingIntent)
}

/// An entry that has left the queue.
public struct Departure: Sendable, Equatable {
    public enum Reason: Sendable, Equatable {
        /// It landed. `commit` is its own last commit in the target, `tip` the commit to which the target was moved.
        case landed(commit: String, tip: String)
        /// The forge merged it on top of something else than it was tested with: nothing is known about the result.
        case landedUntested(commit: String)
        /// It was merged into the target, but not by this queue.
        case landedElsewhere(commit: String)
        case failed(QueueFailure)
        /// New commits were pushed to the change.
        case pushed(head: String)
        case closed
        case withdrawn
    }

    public var entry: QueueEntry
    public var reason: Reason
    /// The runs that are the reason, by the name of their workflow.
    public var runs: [String: Int64]

    public init(entry: QueueEntry, reason: Reason, runs: [String: Int64] = [:]) {
        self.entry = entry
        self.reason = reason
        self.runs = runs
    }
}
