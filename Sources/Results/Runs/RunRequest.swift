public import Pipeline

/// What a run is asked to do: enough to execute it after a restart, without looking at the repository again.
public struct RunRequest: Sendable, Equatable {
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
    public var kind: RunKind
    public var options = RunOptions()
    /// Makes a wanted repetition (a rerun, a run by hand, a retest) distinct from the run it repeats; empty for
    /// a run that a ref change started.
    public var nonce: String
    /// Runs of the same subject and workflow supersede or queue behind one another: change or branch.
    public var subject: String
    /// What happens to older runs of the same subject.
    public var concurrency: Concurrency
    /// Whether its steps act on the world: a step of it that may have begun is not done again by the box.
    public var runsAtMostOnce: Bool
    /// The clone that the head is read from, as a path; nil where the watched repository has it.
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
