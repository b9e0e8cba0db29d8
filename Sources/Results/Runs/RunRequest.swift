public import Pipeline

/// What a run is asked to do: enough to execute it after a restart, without looking at the repository again.
public struct RunRequest: Sendable, Equatable, Codable {
    /// The watched repository's name.
    public var repository: String
    public var workflow: String
    public var event: Trigger.Event
    /// The full ref that moved, or that was named by hand.
    public var ref: String
    /// The target of a change, else the branch; nil for a tag.
    public var branch: String?
    /// The pushed commit: the head of a change, the tip of a branch, or a snapshot of a working tree.
    public var head: String
    /// The commit that holds the workflow definition: the target's tip for a change.
    public var definitionCommit: String
    /// The commit from before, for changed files of a merge or push.
    public var previous: String?
    public var change: Change?
    public var mergedChanges: [MergedChange]
    public var parameters: [String: String]
    /// Only these steps and what they need; nil for all.
    public var onlySteps: [String]?
    /// Of ``onlySteps``, only these tests; nil for all.
    public var onlyTests: [KnownTest]?
    public var rerunOf: RunID?
    /// Makes a wanted repetition (a rerun, a run by hand, a retest) distinct from the run it repeats; empty for
    /// a run that a ref change started.
    public var nonce: String
    /// Runs of the same subject and workflow supersede or queue behind one another: change or branch.
    public var subject: String
    /// What happens to older runs of the same subject.
    public var concurrency: Concurrency
    /// Whether its steps act on the world: a step of it that may have begun is not done again by the box.
    public var runsAtMostOnce: Bool
    /// Whether every step is run, also those that earlier runs have proved; nil is no.
    public var refusesProofs: Bool?
    /// Whether a person waits for it, who is gone when the box goes down; nil is no.
    public var isForeground: Bool?
    /// Whether it begins from nothing although it could begin from a base; nil is no.
    public var isClean: Bool?
    /// Whether an agent asked for it: then it is given no secrets and is no release; nil is no.
    public var isForAgent: Bool?
    /// The run whose kept workspace it goes on with, where that is still there; nil to begin as others do.
    public var resumes: RunID?
    /// The first run of those that repeat one another, and which of them this is, from 1; nil for a first run.
    public var origin: RunID?
    public var repetition: Int?
    /// What the box wants the run for of its own accord; nil for a run that somebody waits for.
    public var upkeep: Upkeep?
    /// Of ``Upkeep/refresh``: whether runs of changes have no workspace to begin from before it has ended; nil is no.
    public var isMissed: Bool?
    /// Of a clean room: the run of the same tree in a warm workspace, with which it is compared.
    public var warmRun: RunID?
    /// Whether that one failed; nil where it passed.
    public var warmFailed: Bool?
    /// What it has to do with mending another run; nil for nothing.
    public var fix: FixRole?

    /// The clone that the head is read from, as a path; nil where the watched repository has it.
    public var source: String?

    /// For ``Upkeep/learn``, which time it is that these tests are run again, from 1.
    public var learning: Int?

    /// Runs of merged code for which the box uses its idle time.
    public enum Upkeep: String, Sendable, Codable {
        /// Leaves the workspace that runs of changes begin from.
        case refresh
        /// The same from nothing, to see that the verdict is the same.
        case cleanRoom
        /// Tells whether a test passed at an earlier commit.
        case bisect
        /// Runs tests again that failed on the branch, to see whether they pass on the same tree.
        case learn
    }

    public init(
        repository: String, workflow: String, event: Trigger.Event, ref: String, branch: String?, head: String,
        definitionCommit: String, previous: String? = nil, change: Change? = nil,
        mergedChanges: [MergedChange] = [], parameters: [String: String] = [:], onlySteps: [String]? = nil,
        rerunOf: RunID? = nil, nonce: String = "", subject: String, concurrency: Concurrency,
        runsAtMostOnce: Bool = false
    ) {
        self.repository = repository
        self.workflow = workflow
        self.event = event
        self.ref = ref
        self.branch = branch
        self.head = head
        self.definitionCommit = definitionCommit
        self.previous = previous
        self.change = change
        self.mergedChanges = mergedChanges
        self.parameters = parameters
        self.onlySteps = onlySteps
        self.rerunOf = rerunOf
        self.nonce = nonce
        self.subject = subject
        self.concurrency = concurrency
        self.runsAtMostOnce = runsAtMostOnce
    }

    /// What makes the run another one than those of the same ref, head and workflow: ``nonce``, and for a change the
    /// commit that it is merged with.
    ///
    /// The digest of the definition needs no place of its own: the head of a branch or tag determines it, and for a
    /// change the target's commit does.
    public var identity: String {
        guard nonce.isEmpty, let change else { return nonce }
        return "onto \(change.targetCommit)"
    }
}

extension RunRequest {
    /// Whether only some steps or tests of the workflow run: what its report lacks may still exist.
    public var isPartial: Bool { onlySteps != nil || onlyTests != nil }
}
