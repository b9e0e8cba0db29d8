public import Foundation

/// A run that was accepted but not started, or not started again since the daemon was restarted.
public struct QueuedRun: Sendable, Equatable, Identifiable {
    /// The run's number.
    public var id: RunID
    /// What the run is asked to do.
    public var request: RunRequest
    /// When it was accepted.
    public var createdAt: Date
    /// The attempt number of its next start; 1 for the first.
    public var attempt: Int
    /// An older run of the same subject that must end first, because of ``Concurrency/queue(max:)`` or `.latestOnly`.
    public var waitsFor: RunID?

    public init(id: RunID, request: RunRequest, createdAt: Date, attempt: Int = 1, waitsFor: RunID? = nil) {
        self.id = id
        self.request = request
        self.createdAt = createdAt
        self.attempt = attempt
        self.waitsFor = waitsFor
    }
}

/// A ref that appeared (`old` is nil), moved, or was deleted (`new` is nil). Commits are hexadecimal.
public struct RefMove: Sendable, Equatable {
    /// The full name.
    public var ref: String
    public var old: String?
    public var new: String?

    public init(ref: String, old: String?, new: String?) {
        self.ref = ref
        self.old = old
        self.new = new
    }
}

/// An older run that a newer run supersedes.
public struct Supersession: Sendable, Equatable {
    /// The older run.
    public var run: RunID
    /// The newer run.
    public var by: RunID
    /// The reason for the verdict, in one sentence.
    public var reason: String

    public init(run: RunID, by: RunID, reason: String) {
        self.run = run
        self.by = by
        self.reason = reason
    }
}

/// The result of recording one observation of a repository.
public struct LookOutcome: Sendable, Equatable {
    /// New runs, in the order of their requests. A run that was superseded at once is only in ``superseded``.
    public var queued: [QueuedRun] = []
    /// Runs that already existed for the requests. No new ones were added for them.
    public var alreadyKnown: [RunID] = []
    /// Queued runs that ended with the verdict "superseded".
    public var superseded: [Supersession] = []
    /// Running runs that the caller must stop. If the daemon restarts before that, they end as superseded, too.
    public var toCancel: [Supersession] = []

    public init() {}
}

/// The result of requesting one run.
public struct EnqueueOutcome: Sendable, Equatable {
    /// The run, new or already there.
    public var run: QueuedRun
    /// Whether the run was added. Otherwise it existed for the same request, in any state.
    public var isNew: Bool
    /// Queued runs that ended with the verdict "superseded".
    public var superseded: [Supersession]
    /// Running runs that the caller must stop.
    public var toCancel: [Supersession]

    public init(run: QueuedRun, isNew: Bool, superseded: [Supersession] = [], toCancel: [Supersession] = []) {
        self.run = run
        self.isNew = isNew
        self.superseded = superseded
        self.toCancel = toCancel
    }
}

/// What happened to a run that was running when the daemon ended.
public struct RecoveredRun: Sendable, Equatable {
    /// What the daemon does with the run.
    public enum Outcome: Sendable, Equatable {
        /// The run is queued again, with this attempt number for its next start.
        case queued(attempt: Int)
        case ended(Verdict, reason: String)
    }

    /// The run's number.
    public var id: RunID
    /// What the run was asked to do.
    public var request: RunRequest
    /// What happened to the run.
    public var outcome: Outcome

    public init(id: RunID, request: RunRequest, outcome: Outcome) {
        self.id = id
        self.request = request
        self.outcome = outcome
    }
}
