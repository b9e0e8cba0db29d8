public import Results
public import Archive
public import Foundation
public import Pipeline

/// What a command asks of the box, over the socket or in its own process.
public enum BoxRequest: Sendable, Codable {
    case status
    /// Look at the repository at this path now; nil: at all of them.
    case look(path: String?)
    case start(StartRequest)
    /// The run's progress from now to its end, as ``BoxReply/progress(_:)``.
    case follow(RunID)
    /// How far a verdict is, as ``BoxReply/waiting(_:)``, until there is one.
    case wait(WaitRequest)
    case cancel(RunID, reason: String)
    /// A person's word on a run or step that waits for it.
    case approve(ApproveRequest)
    /// A person's choice of a repository's protected branch; nil: of the only repository.
    case protect(branch: String, repository: String?)
    /// `proofs`: whether steps may be left out that other runs have proved.
    case rerun(RerunRequest)
    case runs(RunsQuery)
    case run(RunID)
    /// The run that a reference means.
    case find(RunQuestion)
    /// What must change before a run passes, as one bounded document.
    case bundle(BundleRequest)
    /// How a test came out; the text is its name or a part of it.
    case testHistory(String, TestFilter)
    case flakyTests(TestFilter)
    /// The tests that take longest; so many at most.
    case slowestTests(TestFilter, Int)
    /// How these tests came out in their newest runs; what they bring of points is ignored.
    case trends([TestTrend], TestFilter)
    /// The tests and findings of a run beside those of another; nil for what is known of its target.
    case compare(RunID, against: RunID?)
    /// Move runs out of the archive by age, count and size.
    case collect(CollectRequest)
    case verifyArchive
    /// What is known of the repository that this path, URL, name or clone means.
    case repository(String)
    /// The target and the integrity rules of the repository that this path, URL, name or clone means.
    case integrityPolicy(String)
    /// The parameters of the workflow that a run would be of, which is not started.
    case parameters(StartRequest)
    /// What stands for each step of a run that is not started.
    case why(StartRequest)
    /// How many proofs there are, and which steps are not believed.
    case proofs
    /// Believe the proofs of a step again; of one repository, or of all.
    case trustProofs(step: String, repository: String?)
    case pushArchive(remote: String)
    /// Which commit broke a test: notes as ``BoxReply/bisect(_:)``, the last one is the answer.
    case bisect(BisectRequest)
    /// Have a failed run mended: notes as ``BoxReply/fix(_:)``, the last one is what it came to.
    case fix(RunID)
}

extension BoxRequest {
    /// Whether the answer takes as long as a run does.
    var waits: Bool {
        switch self {
        case .follow, .wait, .bisect, .fix: true
        default: false
        }
    }
}

/// A run that is wanted by hand.
public struct StartRequest: Sendable, Codable {
    /// What is tested.
    public enum Subject: Sendable, Codable {
        /// A branch, tag or commit of the repository.
        case revision(String)
        /// A change by its name, as its merge with the target.
        case change(String)
        /// A commit that holds the working tree, made by the command.
        case workingTree(commit: String)
    }

    /// The repository's path or URL: where the caller stands.
    public var location: String
    /// The repository by its name on the box, or its place, whatever ``location`` is; nil for the one there.
    public var repository: String?
    public var workflow: String
    public var subject: Subject
    public var parameters: [String: String]
    /// Only these and what they need; empty for all.
    public var steps: [String]
    /// Only these tests, by their names in reports or a part of them; empty for all.
    public var tests: [String]?
    /// Where the repository was cloned from: a change that is not here may be one there.
    public var origin: String?
    /// Whether an interruption ends it for good, because the person who waits is gone with it.
    public var isForeground: Bool
    /// Whether every step is run, also those that earlier runs have proved.
    public var refusesProofs = false
    /// Whether it begins from nothing although there is a base.
    public var isClean = false
    /// Whether an agent asks, who must not start what a person has to.
    public var isForAgent = false

    public init(
        location: String, workflow: String, subject: Subject, parameters: [String: String] = [:],
        steps: [String] = [], isForeground: Bool = false
    ) {
        self.location = location
        self.workflow = workflow
        self.subject = subject
        self.parameters = parameters
        self.steps = steps
        self.isForeground = isForeground
    }
}

/// A run that is wanted once more.
public struct RerunRequest: Sendable, Codable {
    public var run: RunID
    /// Only the steps that did not pass: in the kept workspace of the run where it is still there.
    public var failedOnly = false
    /// Only these and what they need; empty for all.
    public var steps: [String] = []
    /// Whether steps that other runs have proved are left out: who says rerun wants to see it run.
    public var usesProofs = false
    /// Whether it begins from nothing.
    public var isClean = false
    /// Whether an agent asks, who must not repeat what a person has to.
    public var isForAgent = false

    public init(run: RunID) { self.run = run }
}

/// Which runs a list shows.
public struct RunsQuery: Sendable, Codable {
    public var repository: String?
    public var workflow: String?
    public var change: String?
    public var branch: String?
    public var commit: String?
    public var states: [RunState]
    public var verdicts: [Verdict]
    public var since: Date?
    /// Only runs with a smaller number: where the next page begins.
    public var before: RunID?
    /// Whether runs are left out that the daemon wants of its own accord; nil is no.
    public var hidesBackground: Bool?
    public var limit: Int

    public init(
        repository: String? = nil, workflow: String? = nil, change: String? = nil, branch: String? = nil,
        commit: String? = nil, states: [RunState] = [], verdicts: [Verdict] = [], since: Date? = nil, limit: Int = 20
    ) {
        self.repository = repository
        self.workflow = workflow
        self.change = change
        self.branch = branch
        self.commit = commit
        self.states = states
        self.verdicts = verdicts
        self.since = since
        self.limit = limit
    }
}

/// Which runs may leave the archive.
public struct CollectRequest: Sendable, Codable {
    public var policy: RetentionPolicy
    /// Says what would go, and keeps it.
    public var isDryRun: Bool

    public init(policy: RetentionPolicy, isDryRun: Bool) {
        self.policy = policy
        self.isDryRun = isDryRun
    }
}

/// What the box answers.
public enum BoxReply: Sendable, Codable {
    /// A sentence for people.
    case done(String)
    case status(BoxStatus)
    /// The run that was accepted; `isNew` is false when the same one existed.
    case accepted(RunID, isNew: Bool)
    case progress(RunProgress)
    case waiting(WaitState)
    case runs([RunSummary])
    case run(RunDetail)
    case found(RunID)
    /// The document in the format that was asked for.
    case bundle(String)
    case appearances([TestAppearance])
    case flaky([FlakyTest])
    case slowest([SlowTest])
    case trends([TestTrend])
    case comparison(Comparison)
    case collected(CollectReply)
    /// Problems found in the archive; none: it is sound.
    case problems([String])
    case repository(RepositoryFacts)
    case integrityPolicy(IntegrityPolicy)
    case parameters([ParameterDeclaration])
    case reasons([StepReasoning])
    case proofs(ProofStatus)
    case bisect(BisectProgress)
    case fix(FixProgress)
    /// What was asked can't be done; `code` is ``BoxError/Code``. An older daemon sends no origin.
    case refused(code: String, message: String, origin: BoxError.Origin?)
}

/// What the box knows of one run.
public struct RunDetail: Sendable, Codable {
    public var summary: RunSummary
    /// While it runs.
    public var live: LiveRun?
    /// For a queued run, how many are before it.
    public var behind: Int?
    /// For a run that waits for a person: its report as far as there is one.
    public var held: Report?
}

/// What ``BoxRequest/collect(_:)`` removed, or would.
public struct CollectReply: Sendable, Codable {
    public var plan: RetentionPlan
    public var isDryRun: Bool
    /// The box's stores of clones that are gone; nil from a daemon of an older version.
    public var stores: [AbandonedStore]?
}

/// The box at a glance.
public struct BoxStatus: Sendable, Codable {
    public struct Repository: Sendable, Codable {
        public var name: String
        public var location: String
        public var isWatched: Bool
        /// Changes by state: open, stale, conflict.
        public var changes: [String: Int]
        /// The branch that changes want into, once a look has seen it; nil where it is not known.
        public var target: String?
        /// What a person must decide about it, with the command; nil where all is clear.
        public var advice: String?
    }

    public var version: String
    public var processID: Int32
    public var slots: Int
    public var repositories: [Repository]
    public var running: [LiveRun]
    public var queued: [RunSummary]
    /// Runs that wait for a person.
    public var held: [RunSummary]
    /// Why nothing starts although runs wait.
    public var obstacle: String?
    /// The options that the daemon was started with, as they were typed.
    public var settings: [String: [String]]?
    public var freeBytes: Int?
    public var state: String
    /// What the daemon found on the machine; nil in the answer of a daemon that does not say it.
    public var machine: BoxMachine?
}

/// What a daemon can do on its machine. A shell of the same user may find something else: it has other control groups.
public struct BoxMachine: Sendable, Codable {
    /// What encloses steps; nil where nothing does.
    public var sandbox: String?
    /// Why nothing does.
    public var sandboxObstacle: String?
    /// What holds steps to their limits.
    public var limits: String
    /// How workspaces are made.
    public var workspaces: String
}
