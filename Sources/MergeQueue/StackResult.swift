/// What is known about a stack: entries that are merged one after the other on top of the target.
public struct StackResult: Sendable, Equatable, Codable {
    /// How far it is.
    public enum Status: Sendable, Equatable, Codable {
        /// It is merged and has no test result yet.
        case built
        case passed
        /// It can't land. For a stack of several entries, the cause is not assigned to one of them yet.
        case failed(QueueFailure)
    }

    /// The ids of the entries, in order.
    public var entries: [Int]
    /// For each entry its last commit. The last entry has none if it can't be merged.
    public var commits: [String]
    /// The tree of ``commit``; empty if there is no commit.
    public var tree: String
    public var status: Status
    /// The number of the test of this commit, from 1. It makes the runs of each attempt unique.
    public var attempt = 1
    /// How many attempts ended with the verdict "flaky".
    public var flaky = 0
    /// How many attempts ended without a result since the queue was last resumed.
    public var undecided = 0
    /// The runs of this attempt, by the name of their workflow.
    public var runs: [String: Int64] = [:]

    public init(entries: [Int], commits: [String], tree: String, status: Status) {
        self.entries = entries
        self.commits = commits
        self.tree = tree
        self.status = status
    }

    /// The commit that contains all entries; empty if the last entry can't be merged.
    public var commit: String { commits.count == entries.count ? commits.last ?? "" : "" }

    /// Whether runs were started for the whole stack. From then on, no entry may join it.
    var isBatch: Bool { status == .passed || attempt > 1 || !runs.isEmpty }

    /// Starts the next attempt.
    mutating func tryAgain() {
        attempt += 1
        runs = [:]
    }
}

/// Why a change can't land.
public enum QueueFailure: Sendable, Equatable, Codable {
    /// It can't be merged. These are some of the paths that conflict.
    case conflict([String])
    /// All its changes are in the target already.
    case nothing
    /// A required workflow failed.
    case failed
    /// A required workflow was flaky in every attempt.
    case flaky
    /// It can't be merged for another reason. The text is a sentence.
    case unmergeable(String)

    /// Whether the failure is a test result. Only then is it useful to test a part of the entries.
    var isVerdict: Bool {
        switch self {
        case .failed, .flaky: true
        case .conflict, .nothing, .unmergeable: false
        }
    }
}

/// A landing that has been decided. It is stored before the target is moved, so that after a crash the tip of the
/// target shows whether the landing took place.
public struct LandingIntent: Sendable, Equatable, Codable {
    /// The ids of the entries that land.
    public var entries: [Int]
    /// For each entry its last commit. The commit of the last entry is ``to``.
    public var commits: [String]
    /// The commit that the target must have before the push.
    public var from: String
    /// The commit that passed, and to which the target is moved.
    public var to: String
    /// The tree of the commit that passed.
    public var tree: String
    /// Who was to move the target when it was decided; nil, in states that an older version stored, means a push.
    public var mover: QueueMover?

    public init(
        entries: [Int], commits: [String], from: String, to: String, tree: String, mover: QueueMover? = .push
    ) {
        self.entries = entries
        self.commits = commits
        self.from = from
        self.to = to
        self.tree = tree
        self.mover = mover
    }

    /// Whether a forge merges it.
    public var isByForge: Bool { mover == .forge }
}
