public import Foundation
public import Pipeline

/// The result of a run for its readers: the content of `report.json` in the archive.
///
/// A reader must accept unknown keys. ``schemaVersion`` changes only when a key changes its meaning or is removed.
public struct Report: Sendable, Equatable, Codable, Identifiable {
    /// The version that this code writes.
    public static let currentSchemaVersion = 1
    /// The rule of a finding: the run failed in a fresh workspace, although it had passed in a warm one.
    public static let warmDiffers = "warm-differs"

    /// The rule of a finding: an added line breaks a rule of the repository.
    public static let brokenRule = "broken-rule"

    /// The rule of a finding: which change broke a test of the branch.
    public static let brokenBy = "broken-by"

    /// The version of the report's format.
    public var schemaVersion = Report.currentSchemaVersion
    /// The run's number.
    public var id: RunID
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// The event that started the run.
    public var event: Trigger.Event
    /// The full ref that moved.
    public var ref: String
    /// The target of a change, otherwise the branch; nil for a tag.
    public var branch: String?
    /// The pushed commit: the head of a change, the tip of a branch.
    public var head: String
    /// The commit that was tested: for a change, its merge with ``Change/targetCommit``. Nil if there was no such
    /// commit.
    public var testedCommit: String?
    /// The id of the tested commit's tree.
    public var testedTree: String?
    /// The change; nil unless the run tests one.
    public var change: Change?
    /// The changes that landed with the commit, oldest first.
    public var mergedChanges: [MergedChange]
    /// Each parameter's value as text, with defaults filled in.
    public var parameters: [String: String]
    /// The result of the whole run.
    public var verdict: Verdict
    /// The reason for the verdict, in one sentence.
    public var reason: String
    /// When the run was accepted.
    public var createdAt: Date
    /// When its first attempt started; nil if it never started.
    public var startedAt: Date?
    /// When it ended.
    public var endedAt: Date
    /// 1, or more if the run was interrupted and started again.
    public var attempt: Int
    /// The run that this one repeats.
    public var rerunOf: RunID?
    /// Which repetition of which run it is; nil if it repeats none.
    public var repetition: Repetition?
    /// The run whose retained workspace it continued in; nil for other runs.
    public var resumed: RunID?
    /// The person who asked for the run in a browser or by the API, in words; nil for other runs.
    public var askedBy: String?
    /// The run that superseded it; nil for other verdicts, and in reports from before this was recorded.
    public var supersededBy: RunID?
    /// In the plan's order.
    public var steps: [StepRecord]
    /// Each test counted once, by its last try.
    public var testCounts: TestCounts
    /// Other facts for the reader: broken result files, a changed workflow definition, a retry.
    public var findings: [Finding]
    /// The conflicting files, if the verdict is ``Verdict/conflict``.
    public var conflicts: [Conflict]
    /// The files that steps archived.
    public var artifacts: [ArtifactRecord]
    /// The comparison with the same tests on the target, if the archive has them.
    public var comparison: Comparison?
    /// The command that repeats this run on another machine.
    public var reproduce: String
    /// The workflow program; nil if the run ended before that was known.
    public var definition: Definition?
    /// The snapshot that the workspace started from; nil for a fresh workspace.
    public var base: Base?
    /// Why the workspace was fresh although workspaces are usually warm; nil if there is no special reason.
    public var cold: String?
    /// How far the code was trusted; nil if the run ended before that was decided.
    public var trust: Trust?
    /// The approvals that the run needed, and the answers; nil if there were none.
    public var approvals: [Approval]?
    /// How the change alters its tests; nil if the workflow has no rules about that.
    public var integrity: Integrity?
    /// The run's part in fixing another run: as the fixer's run, or as the check of a fix.
    public var fix: FixRecord?
    /// The attempts at fixing this run's failure; nil if there are none.
    public var fixes: FixSeries?
    /// The run's part in a task, and what came of it; nil for other runs.
    public var task: TaskOutcome?
    /// The machine of the daemon.
    public var box: Machine
    /// The name of the machine that ran its steps; nil if that is ``box``, or if no step ran.
    public var machine: String?

    public init(
        id: RunID, repository: String, workflow: String, event: Trigger.Event, ref: String, branch: String?,
        head: String, testedCommit: String? = nil, testedTree: String? = nil, change: Change? = nil,
        mergedChanges: [MergedChange] = [], parameters: [String: String] = [:], verdict: Verdict, reason: String,
        createdAt: Date, startedAt: Date?, endedAt: Date, attempt: Int = 1, rerunOf: RunID? = nil,
        steps: [StepRecord] = [], testCounts: TestCounts = TestCounts(), findings: [Finding] = [],
        conflicts: [Conflict] = [], artifacts: [ArtifactRecord] = [], comparison: Comparison? = nil,
        reproduce: String, definition: Definition? = nil, trust: Trust? = nil, approvals: [Approval]? = nil,
        box: Machine
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

    /// A run's position among the runs that repeat each other.
    public struct Repetition: Sendable, Equatable, Codable {
        /// The first of these runs, which repeats none.
        public var origin: RunID
        /// 2 for the first repetition. No two repetitions have the same number.
        public var number: Int

        public init(origin: RunID, number: Int) {
            self.origin = origin
            self.number = number
        }
    }

    /// A file that was changed in conflicting ways by a change and its target.
    public struct Conflict: Sendable, Equatable, Codable {
        /// Relative to the repository.
        public var path: String
        /// The kind of conflict, in words.
        public var kind: String

        public init(path: String, kind: String) {
            self.path = path
            self.kind = kind
        }
    }

    /// The snapshot of the target over which the run had its workspace.
    public struct Base: Sendable, Equatable, Codable {
        /// The run that left the snapshot, and the commit that it tested.
        public var run: RunID
        public var commit: String
        /// How many files and links of the tested tree were written over the snapshot.
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

    /// The result of checking the change against the workflow's integrity rules.
    public struct Integrity: Sendable, Equatable, Codable {
        /// How many of ``Report/findings`` are breaches: those whose rule begins with `integrity-`.
        public var breaches: Int
        /// The target's run whose results were compared with this run's; nil if there was none.
        public var heldAgainst: RunID?
        /// The verdict of the steps alone, if an approval decides the run's verdict.
        public var verdict: Verdict?
        /// The reason for ``verdict``.
        public var reason: String?

        public init(breaches: Int, heldAgainst: RunID? = nil, verdict: Verdict? = nil, reason: String? = nil) {
            self.breaches = breaches
            self.heldAgainst = heldAgainst
            self.verdict = verdict
            self.reason = reason
        }
    }

    /// The machine that executed a run.
    public struct Machine: Sendable, Equatable, Codable {
        /// The machine's host name.
        public var host: String
        /// `Linux x86_64`, for example.
        public var system: String
        /// The version of pipectl there.
        public var pipectlVersion: String

        public init(host: String, system: String, pipectlVersion: String) {
            self.host = host
            self.system = system
            self.pipectlVersion = pipectlVersion
        }
    }
}

/// A run's tests compared with those of the newest archived run of the same workflow on the target.
public struct Comparison: Sendable, Equatable, Codable {
    /// The target's run.
    public var against: RunID
    /// The target's commit that ``against`` tested.
    public var commit: String
    /// Ids of tests that fail in both runs.
    public var alsoFailing: [String]
    /// Ids of tests that fail only in this run.
    public var newlyFailing: [String]
    /// Ids of tests that ran on the target and no longer exist.
    public var vanished: [String]
    /// Ids of tests that ran on the target and are skipped in this run.
    public var newlySkipped: [String]
    /// Ids of tests that fail on the target and pass in this run. This list and those below are nil in reports of older
    /// versions.
    public var fixed: [String]?
    /// Ids of tests that don't exist on the target, under any name.
    public var added: [String]?
    /// Tests that have another name than on the target. They are in no other list because of that.
    public var renamed: [Rename]?
    /// Tests that took longer than their earlier times explain.
    public var slower: [Slowdown]?
    /// ``Finding/fingerprint`` of findings that only this run has; nil also if the target's findings are unknown.
    public var newFindings: [String]?

    /// A test that was moved or renamed.
    public struct Rename: Sendable, Equatable, Codable {
        /// The ids on the target and in this run.
        public var from: String
        public var to: String
        /// Whether the bodies are the same except for white space. If not, the test was recognised by its name.
        public var hasSameBody: Bool

        public init(from: String, to: String, hasSameBody: Bool) {
            self.from = from
            self.to = to
            self.hasSameBody = hasSameBody
        }
    }

    /// A test that took longer than its earlier times explain.
    public struct Slowdown: Sendable, Equatable, Codable {
        /// The test's id.
        public var test: String
        /// The time in this run, in seconds.
        public var seconds: Double
        /// The median of the last ``samples`` runs, in seconds.
        public var median: Double
        /// The median absolute deviation of those runs, in seconds.
        public var deviation: Double
        /// The number of earlier runs.
        public var samples: Int

        public init(test: String, seconds: Double, median: Double, deviation: Double, samples: Int) {
            self.test = test
            self.seconds = seconds
            self.median = median
            self.deviation = deviation
            self.samples = samples
        }

        /// `2.4 s; the median of the last 12 runs is 0.8 s, typical deviation 20 ms`.
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
