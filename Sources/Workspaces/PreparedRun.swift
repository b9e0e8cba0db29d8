package import Git
package import Pipeline
package import Results

/// What a run's sandbox and workspace are made from: the parts of a prepared run that this module needs.
package struct PreparedRun: Sendable {
    /// The run, as it was accepted.
    package var run: QueuedRun
    /// The repository of its commit.
    package var repository: SourceRepository
    /// The tested commit and its tree.
    package var commit: OID
    package var tree: OID
    /// The steps to run.
    package var plan: Plan
    /// The workflow's whole plan, of which ``plan`` may be a part.
    package var wholePlan: Plan
    /// The tree id of the `workflows/` that decided the plan.
    package var definition: String
    /// Whether the tested code is merged.
    package var trust: Trust
    /// Whether changes run the same workflow.
    package var startsForChanges: Bool
    /// The folders of the workflow program.
    package var program: [String]
    /// The parameters' values, with defaults filled in.
    package var parameters: [String: String]
    /// The variables that every step sees, without those that the step declares.
    package var environment: [String: String]

    package init(
        run: QueuedRun, repository: SourceRepository, commit: OID, tree: OID, plan: Plan, wholePlan: Plan,
        definition: String, trust: Trust, startsForChanges: Bool, program: [String], parameters: [String: String],
        environment: [String: String]
    ) {
        self.run = run
        self.repository = repository
        self.commit = commit
        self.tree = tree
        self.plan = plan
        self.wholePlan = wholePlan
        self.definition = definition
        self.trust = trust
        self.startsForChanges = startsForChanges
        self.program = program
        self.parameters = parameters
        self.environment = environment
    }

    /// Whether its code is on a protected branch.
    var isMerged: Bool { trust == .merged }
}

/// Where a repository's objects and refs are on this machine.
package struct SourceRepository: Sendable, Equatable {
    /// The watched repository's name.
    package var name: String
    /// The git directory with the refs: the repository's own, or our mirror of a remote.
    package var gitDirectory: String
    /// Our own bare store, which borrows the objects of ``gitDirectory`` and has the merges that are tested.
    package var store: String
    /// The git directory of a clone whose own commits are tested, which ``store`` borrows, too; nil for none.
    package var clone: String?

    package init(name: String, gitDirectory: String, store: String, clone: String?) {
        self.name = name
        self.gitDirectory = gitDirectory
        self.store = store
        self.clone = clone
    }

    /// The folders with the objects that a run may need.
    package var objectFolders: [String] {
        ([store, gitDirectory] + [clone].compactMap { $0 }).map { "\($0)/objects" }
    }
}
