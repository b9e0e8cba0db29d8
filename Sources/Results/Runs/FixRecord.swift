/// What a run does for mending another one, as it is asked to.
///
/// Each attempt is two runs: the fixer at work, and, where that made a commit, a run of the workflow on it.
public struct FixRole: Sendable, Equatable, Codable {
    /// The run that failed.
    public var of: RunID
    /// Counts the attempts at that run, from 1.
    public var attempt: Int
    /// The number of the last attempt that may be made without being asked again.
    public var last: Int
    /// Whether a fix that passes is pushed to the change's own branch.
    public var mayPush: Bool
    /// The fixer's run whose commit this one checks; nil where the fixer is at work.
    public var maker: RunID?

    public init(of: RunID, attempt: Int, last: Int, mayPush: Bool, maker: RunID? = nil) {
        self.of = of
        self.attempt = attempt
        self.last = last
        self.mayPush = mayPush
        self.maker = maker
    }

    /// Whether the fixer is at work in it.
    public var isMaking: Bool { maker == nil }

    /// In words: `fix 1 of run 12`, `check of fix 1 of run 12`.
    public var inWords: String { "\(isMaking ? "" : "check of ")fix \(attempt) of run \(of)" }
}

/// What a run did for mending another one.
public struct FixRecord: Sendable, Equatable, Codable {
    public var role: FixRole
    /// What the fixer came to; nil in a check, and where the fixer did not come to an end.
    public var outcome: FixOutcome?
    /// The commit that it made, on top of the change's head, and the ref that keeps it in the box's own store.
    public var commit: String?
    public var ref: String?
    /// The SHA-256 of the commit as a patch, which is an artifact of the fixer's run.
    public var patch: String?
    /// What the commit changes.
    public var files: [String]?
    public var additions: Int?
    public var deletions: Int?
    /// Files in the workspace that differ and are not in the commit: ignored ones, what steps had left, sockets.
    public var leftOut: Int?

    public init(role: FixRole) { self.role = role }
}

/// What a fixer came to. Open: a later version may know more.
public struct FixOutcome: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is a commit, which is yet to be checked.
    public static let made = FixOutcome(rawValue: "made")
    /// It ended well and changed nothing that is tracked.
    public static let noChange = FixOutcome(rawValue: "noChange")
    /// It changed what it may not, or more than is taken.
    public static let refused = FixOutcome(rawValue: "refused")
    /// It weakened tests.
    public static let weakensTests = FixOutcome(rawValue: "weakensTests")
    /// What it changed can't be put on top of the change without what the target brings.
    public static let conflict = FixOutcome(rawValue: "conflict")
    /// The command failed, took too long or too much.
    public static let failed = FixOutcome(rawValue: "failed")
}

/// What was done about a failed run.
public struct FixSeries: Sendable, Equatable, Codable {
    public struct State: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A fixer is at work, or will be, or what it made is being checked.
        public static let working = State(rawValue: "working")
        /// A fix passed: it may be taken over.
        public static let offered = State(rawValue: "offered")
        /// A fix passed and is on the change's branch.
        public static let pushed = State(rawValue: "pushed")
        /// A fix passed but for what a person must allow.
        public static let needsApproval = State(rawValue: "needsApproval")
        /// No attempt passed.
        public static let givenUp = State(rawValue: "givenUp")
        /// Cancelled, or the change moved on.
        public static let stopped = State(rawValue: "stopped")

        /// As people read it.
        public var title: String {
            switch self {
            case .working: "being tried"
            case .needsApproval: "needs approval"
            case .givenUp: "abandoned"
            default: rawValue
            }
        }

        /// Whether there is a commit to take over.
        public var isOffer: Bool { self == .offered || self == .pushed }
    }

    public var state: State
    /// Why, in one sentence.
    public var reason: String
    /// Attempts that are made unasked, and whether one that passes is pushed: as the target's definition says.
    public var wanted: Int
    public var mayPush: Bool
    public var attempts: [FixAttempt]

    public init(state: State, reason: String, wanted: Int, mayPush: Bool, attempts: [FixAttempt] = []) {
        self.state = state
        self.reason = reason
        self.wanted = wanted
        self.mayPush = mayPush
        self.attempts = attempts
    }

    /// The attempt whose commit is offered, or waits for a person.
    public var chosen: FixAttempt? {
        guard state.isOffer || state == .needsApproval else { return nil }
        return attempts.last { $0.commit != nil }
    }
}

/// One try at mending a run.
public struct FixAttempt: Sendable, Equatable, Codable {
    public var number: Int
    /// The fixer's run, and the run that checks what it made; nil where there is none.
    public var run: RunID
    public var check: RunID?
    public var outcome: FixOutcome?
    public var verdict: Verdict?
    /// What it came to, in one sentence.
    public var reason: String
    /// As in ``FixRecord``.
    public var commit: String?
    public var ref: String?
    public var patch: String?
    public var files: [String]?
    public var additions: Int?
    public var deletions: Int?

    public init(number: Int, run: RunID, reason: String) {
        self.number = number
        self.run = run
        self.reason = reason
    }
}

extension RunRequest {
    /// Whether a push or a move of the target started it: what was wanted for an older commit of the change is not wanted
    /// any more.
    package var startsAnew: Bool {
        fix == nil && change != nil && rerunOf == nil && upkeep == nil
            && (nonce.isEmpty || nonce.hasPrefix("onto ") || nonce.hasPrefix("after run "))
    }
}

extension Report {
    /// Whether something follows from it for a fix, which a crash must not lose.
    package var hasFixDue: Bool { fix != nil || fixes?.state == .working }
}
