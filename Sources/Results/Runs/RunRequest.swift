public import Pipeline

/// What a run was asked to do. It is enough to execute the run after a restart, without observing the repository again.
public struct RunRequest: Sendable, Equatable {
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// The event that starts the run.
    public var event: Trigger.Event
    /// The full ref that moved, or that a person named.
    public var ref: String
    /// The target of a change, otherwise the branch; nil for a tag.
    public var branch: String?
    /// The pushed commit: the head of a change, the tip of a branch, or a snapshot of a working tree.
    public var head: String
    /// The commit with the workflow definition: for a change, the tip of its target.
    public var definitionCommit: String
    /// The ref's previous commit, which decides the changed files of a merge or push; nil if it had none.
    public var previous: String?
    /// The change; nil unless the run tests one.
    public var change: Change?
    /// The changes that landed with the commit, oldest first.
    public var mergedChanges: [MergedChange]
    /// Each parameter's value as text, with defaults filled in.
    public var parameters: [String: String]
    /// Only these steps and the steps that they need; nil: all steps.
    public var onlySteps: [String]?
    /// Of ``onlySteps``, only these tests; nil: all tests.
    public var onlyTests: [KnownTest]?
    /// Why the run is made, with what only runs of this kind have.
    public var kind: RunKind
    /// How the run differs from others of its kind.
    public var options = RunOptions()
    /// Distinguishes a requested repetition (a rerun, `pipectl run`, a retest) from the run that it repeats. Empty for a
    /// run that a ref change started.
    public var nonce: String
    /// The change or branch. Runs of the same subject and workflow supersede each other, or wait for each other.
    public var subject: String
    /// What happens to older runs of the same subject.
    public var concurrency: Concurrency
    /// Whether its steps act on the outside world, as those of a release do. The daemon does not repeat a step that may
    /// have started.
    public var runsAtMostOnce: Bool
    /// The path of the clone that has the head; nil if the watched repository has it.
    public var source: String?

    public init(
        repository: String, workflow: String, event: Trigger.Event, ref: String, branch: String?, head: String,
        definitionCommit: String, previous: String? = nil, change: Change? = nil,
        mergedChanges: [MergedChange] = [], parameters: [String: String] = [:], onlySteps: [String]? = nil,
        kind: RunKind = .triggered, nonce: String = "", subject: String, concurrency: Concurrency,
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
        self.kind = kind
        self.nonce = nonce
        self.subject = subject
        self.concurrency = concurrency
        self.runsAtMostOnce = runsAtMostOnce
    }

    /// Distinguishes the run from others with the same ref, head and workflow: ``nonce``, and for a change the commit
    /// that it is merged with.
    ///
    /// The digest of the definition is not needed: it follows from the head of a branch or tag, or from the target's
    /// commit of a change.
    public var identity: String {
        guard nonce.isEmpty, let change else { return nonce }
        return "onto \(change.targetCommit)"
    }
}

extension RunRequest {
    /// Whether only some steps or tests of the workflow run. Tests that its report lacks may still exist.
    public var isPartial: Bool { onlySteps != nil || onlyTests != nil }
}
