public import Results
public import Foundation

/// An accepted run that has not been started, or not since the box came back.
public struct QueuedRun: Sendable, Equatable, Identifiable {
    public var id: RunID
    public var request: RunRequest
    public var createdAt: Date
    /// The number that its next start gets: 1 for the first.
    public var attempt: Int
    /// An older run of the same subject that must end first, by ``Concurrency/queue(max:)`` or `.latestOnly`.
    public var waitsFor: RunID?

    public init(id: RunID, request: RunRequest, createdAt: Date, attempt: Int = 1, waitsFor: RunID? = nil) {
        self.id = id
        self.request = request
        self.createdAt = createdAt
        self.attempt = attempt
        self.waitsFor = waitsFor
    }
}

/// One ref that appeared (`old` is nil), moved, or vanished (`new` is nil); commits as hexadecimal.
public struct RefMove: Sendable, Equatable {
    public var ref: String
    public var old: String?
    public var new: String?

    public init(ref: String, old: String?, new: String?) {
        self.ref = ref
        self.old = old
        self.new = new
    }
}

/// An older run whose place a newer one takes.
public struct Supersession: Sendable, Equatable {
    public var run: RunID
    public var by: RunID
    /// For the verdict, in one sentence.
    public var reason: String

    public init(run: RunID, by: RunID, reason: String) {
        self.run = run
        self.by = by
        self.reason = reason
    }
}

/// What one look at a repository led to.
public struct LookOutcome: Sendable, Equatable {
    /// New runs, in the order of their requests. One that was superseded at once is among ``superseded`` only.
    public var queued: [QueuedRun] = []
    /// Runs that existed already for what was requested; nothing was added for them.
    public var alreadyKnown: [RunID] = []
    /// Waiting runs that have ended with the verdict "superseded".
    public var superseded: [Supersession] = []
    /// Running runs that the caller must stop. A restart before that ends them as superseded too.
    public var toCancel: [Supersession] = []

    public init() {}
}

/// What asking for one run led to.
public struct EnqueueOutcome: Sendable, Equatable {
    public var run: QueuedRun
    /// Whether the run was added; else it is the one that existed for the same request, whatever its state is now.
    public var isNew: Bool
    /// Waiting runs that have ended with the verdict "superseded".
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

/// What became of a run that was running when the box went down.
public struct RecoveredRun: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// Waits again; its next start has this number.
        case queued(attempt: Int)
        case ended(Verdict, reason: String)
    }

    public var id: RunID
    public var request: RunRequest
    public var outcome: Outcome

    public init(id: RunID, request: RunRequest, outcome: Outcome) {
        self.id = id
        self.request = request
        self.outcome = outcome
    }
}
