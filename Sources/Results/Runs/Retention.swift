/// How much history is kept; nil sets no limit.
public struct RetentionPolicy: Sendable, Equatable, Codable {
    /// Days since the run ended.
    public var maximumAgeDays: Double?
    /// The largest number of runs.
    public var maximumRuns: Int?
    /// Bytes of reports, logs and results before compression, and of artifacts, each counted once.
    public var maximumBytes: Int?
    /// How many of the newest runs of each workflow on each branch are kept whatever the limits say, at least one; on
    /// branches other than the target only for 90 days. Runs of changes don't count.
    public var keepNewestPerBranch: Int

    public init(
        maximumAgeDays: Double? = nil, maximumRuns: Int? = nil, maximumBytes: Int? = nil, keepNewestPerBranch: Int = 1
    ) {
        self.maximumAgeDays = maximumAgeDays
        self.maximumRuns = maximumRuns
        self.maximumBytes = maximumBytes
        self.keepNewestPerBranch = keepNewestPerBranch
    }
}

/// What a policy would remove from the archive.
public struct RetentionPlan: Sendable, Equatable, Codable {
    /// The limit of the policy that a run exceeds.
    public enum Limit: String, Sendable, Codable, CaseIterable {
        case age, runs, bytes
    }

    /// A run to be removed.
    public struct Removal: Sendable, Equatable, Codable {
        /// The run's number.
        public var run: RunID
        /// The limit that it exceeds.
        public var limit: Limit
        /// Why, in a few words.
        public var reason: String
        /// Bytes that are freed, without artifacts that other runs share.
        public var bytes: Int

        public init(run: RunID, limit: Limit, reason: String, bytes: Int) {
            self.run = run
            self.limit = limit
            self.reason = reason
            self.bytes = bytes
        }
    }

    /// A run that exceeds a limit but stays.
    public struct Kept: Sendable, Equatable, Codable {
        /// The run's number.
        public var run: RunID
        /// Why it stays.
        public var reason: RetentionReason

        public init(run: RunID, reason: RetentionReason) {
            self.run = run
            self.reason = reason
        }
    }

    /// A stored artifact that no run refers to any more.
    public struct Artifact: Sendable, Equatable, Codable {
        /// The digest of its content, 64 hexadecimal digits.
        public var sha256: String
        /// Its size.
        public var bytes: Int

        public init(sha256: String, bytes: Int) {
            self.sha256 = sha256
            self.bytes = bytes
        }
    }

    /// Oldest first.
    public var removals: [Removal] = []
    /// Artifacts that no run names any more.
    public var artifacts: [Artifact] = []
    /// The number of runs that stay.
    public var keptRuns = 0
    /// The runs that stay although they exceed a limit, oldest first.
    public var kept: [Kept] = []

    public init() {}

    /// What becomes free: artifacts at once, the rest with the next `git gc --prune=now`, where it is compressed.
    public var bytes: Int { removals.reduce(0) { $0 + $1.bytes } + artifacts.reduce(0) { $0 + $1.bytes } }
}

/// Why a run stays although it exceeds a limit.
public enum RetentionReason: String, Sendable, Codable, CaseIterable {
    /// It waits for an approval.
    case waitsForPerson
    /// The newest verdict of a change that has not landed: without it, `wait` says that nothing runs for it. Only
    /// for 90 days.
    case newestOfOpenChange
    /// The newest verdicts of a branch: changes are compared with those of the target. Only for 90 days,
    /// except on the target.
    case newestOfBranch
    /// An attempt to fix a run that stays.
    case fixOfKeptRun
    /// A run of a task that has not ended.
    case partOfOpenTask
    /// The newest run of all. It tells a rebuilt index which numbers are used.
    case newestOfAll
}
