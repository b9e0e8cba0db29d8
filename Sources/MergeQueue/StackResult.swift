/// What is known of a stack: of entries that are merged one after the other on top of the target.
public struct StackResult: Sendable, Equatable, Codable {
    /// How far it is.
    public enum Status: Sendable, Equatable, Codable {
        /// It is merged, and has no verdict.
        case built
        case passed
        /// It can't land. For a stack of several entries, it is not known yet which one is to blame.
        case failed(QueueFailure)
    }

    /// The ids of the entries, in order.
    public var entries: [Int]
    /// For each entry, the commit that completes it; none for an entry that can't be merged, which is the last one.
    public var commits: [String]
    /// The tree of ``commit``; empty where there is none.
    public var tree: String
    public var status: Status
    /// Which time the commit is tested, from 1: part of what makes its runs unique.
    public var attempt = 1
    /// Verdicts "flaky" so far.
    public var flaky = 0
    /// Attempts that ended without a verdict about the commit, since the queue was resumed.
    public var undecided = 0
    /// The runs of this attempt, by the workflow's name.
    public var runs: [String: Int64] = [:]

    public init(entries: [Int], commits: [String], tree: String, status: Status) {
        self.entries = entries
        self.commits = commits
        self.tree = tree
        self.status = status
    }

    /// The commit with all entries; empty where the last entry can't be merged.
    public var commit: String { commits.count == entries.count ? commits.last ?? "" : "" }

    /// Whether a run was started for the stack as a whole: then no entry joins it any more.
    var isBatch: Bool { status == .passed || attempt > 1 || !runs.isEmpty }

    /// Has it tested once more.
    mutating func tryAgain() {
        attempt += 1
        runs = [:]
    }
}

/// Why a change can't land.
public enum QueueFailure: Sendable, Equatable, Codable {
    /// It can't be merged; the paths that conflict, at most some of them.
    case conflict([String])
    /// What it would bring is in the target already.
    case nothing
    /// A required workflow failed.
    case failed
    /// A required workflow was flaky each time.
    case flaky
    /// It can't be merged for another reason, which is a sentence.
    case unmergeable(String)

    /// Whether a test says so. Only then it is worth while to test a part of the changes.
    var isVerdict: Bool {
        switch self {
        case .failed, .flaky: true
        case .conflict, .nothing, .unmergeable: false
        }
    }
}

/// A landing that was decided, before the target is moved. It is stored first: after a crash the target's tip tells
/// whether it took place.
public struct LandingIntent: Sendable, Equatable, Codable {
    /// The ids of the entries that land.
    public var entries: [Int]
    /// For each of them, the commit that completes it; the last one is ``to``.
    public var commits: [String]
    /// The commit that the target must be at.
    public var from: String
    /// The commit that passed.
    public var to: String
    /// The tree that passed.
    public var tree: String

    public init(entries: [Int], commits: [String], from: String, to: String, tree: String) {
        self.entries = entries
        self.commits = commits
        self.from = from
        self.to = to
        self.tree = tree
    }
}
