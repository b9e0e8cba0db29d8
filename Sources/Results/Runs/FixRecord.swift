/// The part of a run in fixing another run, as it was requested.
///
/// Each attempt has two runs: the fixer's, and, if that made a commit, a run of the workflow on it.
public struct FixRole: Sendable, Equatable, Codable {
    /// The run that failed.
    public var of: RunID
    /// The number of the attempt at fixing that run, from 1.
    public var attempt: Int
    /// The number of the last attempt that is made without a new request.
    public var last: Int
    /// Whether a fix that passes is pushed to the change's own branch.
    public var mayPush: Bool
    /// The fixer's run whose commit this run checks; nil if this run is the fixer's.
    public var maker: RunID?

    public init(of: RunID, attempt: Int, last: Int, mayPush: Bool, maker: RunID? = nil) {
        self.of = of
        self.attempt = attempt
        self.last = last
        self.mayPush = mayPush
        self.maker = maker
    }

    /// Whether this run is the fixer's.
    public var isMaking: Bool { maker == nil }

    /// `fix 1 of run 12`, `check of fix 1 of run 12`.
    public var inWords: String { "\(isMaking ? "" : "check of ")fix \(attempt) of run \(of)" }
}

/// The result of a run that was part of fixing another run.
public struct FixRecord: Sendable, Equatable, Codable {
    /// What the run was for.
    public var role: FixRole
    /// The fixer's result; nil in a check, and if the fixer did not end.
    public var outcome: FixOutcome?
    /// The commit that the fixer made on top of the change's head, and the ref that keeps it in the daemon's own
    /// repository.
    public var commit: String?
    public var ref: String?
    /// The SHA-256 of the commit as a patch. The patch is an artifact of the fixer's run.
    public var patch: String?
    /// The paths that the commit changes.
    public var files: [String]?
    /// The number of lines that the commit adds.
    public var additions: Int?
    /// The number of lines that the commit removes.
    public var deletions: Int?
    /// How many files in the workspace differ but are not in the commit: ignored files, files that steps left, sockets.
    public var leftOut: Int?

    public init(role: FixRole) { self.role = role }
}

/// How a fixer ended. A raw value, because later versions may add more.
public struct FixOutcome: RawRepresentable, Sendable, Hashable, Codable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It made a commit, which is not yet checked.
    public static let made = FixOutcome(rawValue: "made")
    /// It ended with exit code 0 and changed no tracked file.
    public static let noChange = FixOutcome(rawValue: "noChange")
    /// It changed files that it may not change, or more than is allowed.
    public static let refused = FixOutcome(rawValue: "refused")
    /// It weakened tests.
    public static let weakensTests = FixOutcome(rawValue: "weakensTests")
    /// Its changes can't be applied to the change without those of the target.
    public static let conflict = FixOutcome(rawValue: "conflict")
    /// The command failed, or it reached its time-out or a limit.
    public static let failed = FixOutcome(rawValue: "failed")
}

/// All attempts at fixing a failed run.
public struct FixSeries: Sendable, Equatable, Codable {
    /// How far the attempts are.
    public struct State: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A fixer is at work or about to start, or its commit is being checked.
        public static let working = State(rawValue: "working")
        /// A fix passed and can be taken over.
        public static let offered = State(rawValue: "offered")
        /// A fix passed and was pushed to the change's branch.
        public static let pushed = State(rawValue: "pushed")
        /// A fix passed, except that it needs an approval.
        public static let needsApproval = State(rawValue: "needsApproval")
        /// No attempt passed.
        public static let givenUp = State(rawValue: "givenUp")
        /// Cancelled, or the change has a newer commit.
        public static let stopped = State(rawValue: "stopped")

        /// The words for people.
        public var title: String {
            switch self {
            case .working: "being tried"
            case .needsApproval: "needs approval"
            case .givenUp: "abandoned"
            default: rawValue
            }
        }

        /// Whether there is a commit that can be taken over.
        public var isOffer: Bool { self == .offered || self == .pushed }
    }

    /// How far the attempts are.
    public var state: State
    /// Why, in one sentence.
    public var reason: String
    /// The number of attempts that are made without a request, and whether a fix that passes is pushed: read from the
    /// target's definition.
    public var wanted: Int
    public var mayPush: Bool
    /// In order.
    public var attempts: [FixAttempt]

    public init(state: State, reason: String, wanted: Int, mayPush: Bool, attempts: [FixAttempt] = []) {
        self.state = state
        self.reason = reason
        self.wanted = wanted
        self.mayPush = mayPush
        self.attempts = attempts
    }

    /// The attempt whose commit is offered, or which waits for an approval.
    public var chosen: FixAttempt? {
        guard state.isOffer || state == .needsApproval else { return nil }
        return attempts.last { $0.commit != nil }
    }
}

/// One attempt at fixing a run.
public struct FixAttempt: Sendable, Equatable, Codable {
    /// From 1.
    public var number: Int
    /// The fixer's run, and the run that checks its commit; nil if there is none.
    public var run: RunID
    /// The run that checks the fixer's commit; nil if there is none yet.
    public var check: RunID?
    /// How the fixer ended; nil while it is at work.
    public var outcome: FixOutcome?
    /// The verdict of ``check``.
    public var verdict: Verdict?
    /// The result of the attempt, in one sentence.
    public var reason: String
    /// The same as in ``FixRecord``.
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

extension Report {
    /// Whether a fix must follow from it, which a crash of the daemon must not lose.
    package var hasFixDue: Bool { fix != nil || fixes?.state == .working }
}
