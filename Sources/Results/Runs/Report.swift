public import Foundation
public import Pipeline

/// A run, readable: what `report.json` in the archive holds.
///
/// A reader must accept unknown keys; ``schemaVersion`` changes only when a key changes its meaning or goes away.
public struct Report: Sendable, Equatable, Codable, Identifiable {
    public static let currentSchemaVersion = 1
    /// The rule of a finding: from nothing a run failed that had passed in a warm workspace.
    public static let warmDiffers = "warm-differs"

    /// The rule of a finding: which change broke a test of the branch.
    public static let brokenBy = "broken-by"

    public var schemaVersion = Report.currentSchemaVersion
    public var id: RunID
    /// The watched repository's name.
    public var repository: String
    public var workflow: String
    public var event: Trigger.Event
    /// The full ref that moved.
    public var ref: String
    /// The target of a change, else the branch; nil for a tag.
    public var branch: String?
    /// The pushed commit: the head of a change, the tip of a branch.
    public var head: String
    /// The commit that was tested: for a change, its merge with ``Change/targetCommit``. Nil if it was never made.
    public var testedCommit: String?
    /// The id of the tested commit's tree.
    public var testedTree: String?
    public var change: Change?
    public var mergedChanges: [MergedChange]
    public var parameters: [String: String]
    public var verdict: Verdict
    /// Why, in one sentence.
    public var reason: String
    public var createdAt: Date
    public var startedAt: Date?
    public var endedAt: Date
    /// 1, or more when the run was interrupted or rerun.
    public var attempt: Int
    /// The run that this one repeats.
    public var rerunOf: RunID?
    /// Which repetition of which run it is; nil for a first run.
    public var repetition: Repetition?
    /// The run in whose workspace it went on; nil if it began as others do.
    public var resumed: RunID?
    public var steps: [StepRecord]
    public var testCounts: TestCounts
    /// What else a reader must know: broken result files, an edited workflow definition, a retry.
    public var findings: [Finding]
    /// The files that conflict, for ``Verdict/conflict``: path and kind.
    public var conflicts: [Conflict]
    public var artifacts: [ArtifactRecord]
    /// The same tests on the target, where the archive has them.
    public var comparison: Comparison?
    /// The command that repeats this run on the reader's machine.
    public var reproduce: String
    public var definition: Definition?
    /// The workspace that it began from; nil if it began from nothing.
    public var base: Base?
    /// Why it began from nothing although others begin from a warm workspace; nil where there is nothing to say.
    public var cold: String?
    /// How far the code was trusted; nil if the run ended before that was decided.
    public var trust: Trust?
    /// What people were asked and said; nil if nobody was.
    public var approvals: [Approval]?
    /// What the change does to its tests; nil where nothing was looked at.
    public var integrity: Integrity?
    /// What it did for mending another run: as the fixer at work, or as the check of what that made.
    public var fix: FixRecord?
    /// What was done about its failure; nil where nobody tries to mend it.
    public var fixes: FixSeries?
    public var box: Box

    public init(
        id: RunID, repository: String, workflow: String, event: Trigger.Event, ref: String, branch: String?,
        head: String, testedCommit: String? = nil, testedTree: String? = nil, change: Change? = nil,
        mergedChanges: [MergedChange] = [], parameters: [String: String] = [:], verdict: Verdict, reason: String,
        createdAt: Date, startedAt: Date?, endedAt: Date, attempt: Int = 1, rerunOf: RunID? = nil,
        steps: [StepRecord] = [], testCounts: TestCounts = TestCounts(), findings: [Finding] = [],
        conflicts: [Conflict] = [], artifacts: [ArtifactRecord] = [], comparison: Comparison? = nil,
        reproduce: String, definition: Definition? = nil, trust: Trust? = nil, approvals: [Approval]? = nil, box: Box
    ) {
        self.id = id
        self.repository = repository
        self.workflow = workflow
        self.event = event
        self.ref = ref
        self.branch = branch
        self.head = head
        self.testedCommit = testedCommit
        self.testedTree = testedTree
        self.change = change
        self.mergedChanges = mergedChanges
        self.parameters = parameters
        self.verdict = verdict
        self.reason = reason
        self.createdAt = createdAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.attempt = attempt
        self.rerunOf = rerunOf
        self.steps = steps
        self.testCounts = testCounts
        self.findings = findings
        self.conflicts = conflicts
        self.artifacts = artifacts
        self.comparison = comparison
        self.reproduce = reproduce
        self.definition = definition
        self.trust = trust
        self.approvals = approvals
        self.box = box
    }

    /// The place of a run among those that repeat one another.
    public struct Repetition: Sendable, Equatable, Codable {
        /// The first of them, which repeats none.
        public var origin: RunID
        /// 2 for the first repetition; no two have the same.
        public var number: Int

        public init(origin: RunID, number: Int) {
            self.origin = origin
            self.number = number
        }
    }

    /// A file that a change and its target both changed.
    public struct Conflict: Sendable, Equatable, Codable {
        public var path: String
        public var kind: String

        public init(path: String, kind: String) {
            self.path = path
            self.kind = kind
        }
    }

    /// A passed workspace of the target, over which the run had its own.
    public struct Base: Sendable, Equatable, Codable {
        /// The run that left it, and the commit that it tested.
        public var run: RunID
        public var commit: String
        /// Entries of the tested tree that the box wrote over it.
        public var changedFiles: Int

        public init(run: RunID, commit: String, changedFiles: Int) {
            self.run = run
            self.commit = commit
            self.changedFiles = changedFiles
        }
    }

    /// Which workflow program decided the plan.
    public struct Definition: Sendable, Equatable, Codable {
        /// The commit whose `workflows/` was used: the target's for a change.
        public var commit: String
        /// The tree id of `workflows/` there.
        public var tree: String
        /// The Swift compiler's version line.
        public var toolchain: String

        public init(commit: String, tree: String, toolchain: String) {
            self.commit = commit
            self.tree = tree
            self.toolchain = toolchain
        }
    }

    /// What was looked at beside the steps: whether the change does what it may not do unasked.
    public struct Integrity: Sendable, Equatable, Codable {
        /// How many of ``Report/findings`` are breaches: those whose rule begins with `integrity-`.
        public var breaches: Int
        /// The run of the target whose results were held against those of this one; nil if there was none.
        public var heldAgainst: RunID?
        /// What the steps came to, where a person's word decides whether it is the run's verdict.
        public var verdict: Verdict?
        public var reason: String?

        public init(breaches: Int, heldAgainst: RunID? = nil, verdict: Verdict? = nil, reason: String? = nil) {
            self.breaches = breaches
            self.heldAgainst = heldAgainst
            self.verdict = verdict
            self.reason = reason
        }
    }

    /// Where it ran.
    public struct Box: Sendable, Equatable, Codable {
        public var host: String
        /// `Linux x86_64`, for example.
        public var system: String
        public var pipectlVersion: String

        public init(host: String, system: String, pipectlVersion: String) {
            self.host = host
            self.system = system
            self.pipectlVersion = pipectlVersion
        }
    }
}

/// The number of a run, unique on its box, counted from 1.
public typealias RunID = Int64

/// A run's tests held against the newest archived run of the same workflow on the target.
public struct Comparison: Sendable, Equatable, Codable {
    public var against: RunID
    /// The target's commit that was tested there.
    public var commit: String
    /// Ids of tests that fail here and fail there too.
    public var alsoFailing: [String]
    /// Ids of tests that fail only here.
    public var newlyFailing: [String]
    /// Ids of tests that ran there and don't exist here.
    public var vanished: [String]
    /// Ids of tests that ran there and are skipped here.
    public var newlySkipped: [String]
    /// Ids of tests that fail there and pass here; this and what follows is nil in reports from before it was kept.
    public var fixed: [String]?
    /// Ids of tests that don't exist there, under no other name either.
    public var added: [String]?
    /// Tests that have another name here; they are in no other list for that.
    public var renamed: [Rename]?
    /// Tests that take longer than their own past explains.
    public var slower: [Slowdown]?
    /// ``Finding/fingerprint`` of what is found here and not there; nil also where the target's findings are not known.
    public var newFindings: [String]?

    /// A test that was moved or named anew.
    public struct Rename: Sendable, Equatable, Codable {
        /// The ids there and here.
        public var from: String
        public var to: String
        /// Whether its body is the same, white space aside; otherwise the names alone say so.
        public var hasSameBody: Bool

        public init(from: String, to: String, hasSameBody: Bool) {
            self.from = from
            self.to = to
            self.hasSameBody = hasSameBody
        }
    }

    /// A test whose time is out of its past.
    public struct Slowdown: Sendable, Equatable, Codable {
        public var test: String
        /// Here, in seconds.
        public var seconds: Double
        /// The median of ``samples`` runs before, in seconds.
        public var median: Double
        /// Their median absolute deviation, in seconds.
        public var deviation: Double
        public var samples: Int

        public init(test: String, seconds: Double, median: Double, deviation: Double, samples: Int) {
            self.test = test
            self.seconds = seconds
            self.median = median
            self.deviation = deviation
            self.samples = samples
        }

        /// `2.4 s; the median of 12 runs before is 0.8 s, give or take 20 ms`.
        public var inWords: String {
            "\(Figures.duration(seconds)); the median of the last \(samples) runs is \(Figures.duration(median)), "
                + "typical deviation \(Figures.duration(deviation))"
        }
    }

    public init(
        against: RunID, commit: String, alsoFailing: [String] = [], newlyFailing: [String] = [],
        vanished: [String] = [], newlySkipped: [String] = []
    ) {
        self.against = against
        self.commit = commit
        self.alsoFailing = alsoFailing
        self.newlyFailing = newlyFailing
        self.vanished = vanished
        self.newlySkipped = newlySkipped
    }
}
