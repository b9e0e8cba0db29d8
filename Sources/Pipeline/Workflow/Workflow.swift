/// A named graph of steps and what starts it.
///
/// A workflow is a value: nothing runs when it is made. The steps are asked for when a run is planned, so
/// a workflow that takes the ``PlanContext`` may shape its graph by the change, its files or the parameters.
public struct Workflow: Sendable {
    /// What the box needs to know to decide about runs, without planning one.
    public internal(set) var declaration: WorkflowDeclaration

    private let listed: @Sendable (PlanContext) -> [Step]

    /// A workflow whose graph is the same for every run.
    ///
    /// - Parameters:
    ///   - name: Unique in the repository; letters, digits, `-`, `_`, `.` and spaces.
    ///   - triggers: What starts a run. None means the same as ``Trigger/manual``.
    ///   - parameters: Values that `pipectl run --param` may set.
    public init(
        _ name: String, on triggers: Trigger..., parameters: [any ParameterDeclaring] = [],
        @StepsBuilder steps: @escaping @Sendable () -> [Step]
    ) {
        declaration = WorkflowDeclaration(
            name: name, triggers: triggers, parameters: parameters.map(\.declaration), readsContext: false)
        listed = { _ in steps() }
    }

    /// A workflow whose graph depends on the run: `{ context in if context.changes("Sources/**") { … } }`.
    public init(
        _ name: String, on triggers: Trigger..., parameters: [any ParameterDeclaring] = [],
        @StepsBuilder steps: @escaping @Sendable (PlanContext) -> [Step]
    ) {
        declaration = WorkflowDeclaration(
            name: name, triggers: triggers, parameters: parameters.map(\.declaration), readsContext: true)
        listed = steps
    }

    /// Says what happens when a new run is wanted while an older one of the same subject is queued or running.
    public func concurrency(_ policy: Concurrency) -> Workflow {
        var copy = self
        copy.declaration.concurrency = policy
        return copy
    }

    /// Cancels what still runs as soon as one step has failed. Without it, independent steps run to their end.
    public func failFast(_ on: Bool = true) -> Workflow {
        var copy = self
        copy.declaration.failFast = on
        return copy
    }

    /// Retests open changes when their target moves. Without it they are marked stale and wait for a push.
    public func retestWhenTargetMoves(_ on: Bool = true) -> Workflow {
        var copy = self
        copy.declaration.retestsStaleChanges = on
        return copy
    }

    /// Limits what a whole run may use, beside the limits of its steps.
    public func limits(_ limits: Limit...) -> Workflow {
        var copy = self
        copy.declaration.limits = Limits(limits).or(declaration.limits)
        return copy
    }

    /// The steps of the graph for `context`: those that are listed, and all that they need.
    func steps(_ context: PlanContext) -> [Step] { StepGraph(listing: listed(context)).steps }

    /// The graph for `context`, not yet validated.
    public func plan(for context: PlanContext) -> Plan {
        Plan(
            workflow: declaration.name, failFast: declaration.failFast, limits: declaration.limits,
            steps: steps(context).map(\.planned))
    }
}

/// A workflow without its steps: what the box reads to decide which runs a ref change starts.
public struct WorkflowDeclaration: Sendable, Equatable, Codable {
    public var name: String
    public var triggers: [Trigger]
    public var parameters: [ParameterDeclaration]
    /// Whether the graph depends on the ``PlanContext``; a plan of one that doesn't is the same for every run.
    public var readsContext: Bool
    public var concurrency: Concurrency?
    public var failFast = false
    public var retestsStaleChanges = false
    /// Of each run.
    public var limits = Limits()
    /// Whether the box looks for what broke a test when the branch fails; nil is no.
    public var bisectsWhenRed: Bool?
    /// Which runs a person must let start; nil for none.
    public var approval: ApprovalRule?
    /// What a change may not do without a person's word; nil where nothing is looked at.
    public var integrity: [IntegrityRule]?
    /// Tests whose failures fail nothing for some time; nil for none.
    public var quarantine: [Quarantine]?
    /// Who tries to mend a change that fails; nil for nobody.
    public var fix: Fix?

    public init(
        name: String, triggers: [Trigger], parameters: [ParameterDeclaration] = [], readsContext: Bool = false
    ) {
        self.name = name
        self.triggers = triggers
        self.parameters = parameters
        self.readsContext = readsContext
    }

    /// Whether runs act on the world (releases): those are never repeated on the box's own initiative.
    ///
    /// True for workflows that a merge or a tag starts but no change does.
    public var runsAtMostOnce: Bool {
        triggers.contains { [.merge, .tag].contains($0.event) }
            && !triggers.contains { $0.event == .pullRequest }
    }
}
