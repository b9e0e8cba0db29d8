/// A named graph of steps, and what starts it.
///
/// A workflow is a value: making one runs nothing. Its steps are asked for when a run is planned, so a workflow that
/// takes the ``PlanContext`` can shape its graph by the change, its files or the parameters.
public struct Workflow: Sendable {
    /// What the daemon must know to decide which runs to start, without planning them.
    public internal(set) var declaration: WorkflowDeclaration

    private let listed: @Sendable (PlanContext) -> [Step]

    /// A workflow whose graph is the same for every run.
    ///
    /// - Parameters:
    ///   - name: Unique in the repository; letters, digits, `-`, `_`, `.` and spaces.
    ///   - triggers: What starts a run. None means the same as ``Trigger/manual``.
    ///   - parameters: Values that `pipectl run --param` may set.
    ///   - steps: The workflow's steps, in the order in which reports show them.
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

    /// Sets what happens when a new run is accepted while an older run of the same subject is queued or running.
    public func concurrency(_ policy: Concurrency) -> Workflow {
        var copy = self
        copy.declaration.concurrency = policy
        return copy
    }

    /// Cancels the steps that are running as soon as one step has failed. Without it, independent steps run to their
    /// end.
    public func failFast(_ on: Bool = true) -> Workflow {
        var copy = self
        copy.declaration.failFast = on
        return copy
    }

    /// Tests open changes again when their target moves. Without it they are marked stale until the next push.
    public func retestWhenTargetMoves(_ on: Bool = true) -> Workflow {
        var copy = self
        copy.declaration.retestsStaleChanges = on
        return copy
    }

    /// Limits what a whole run may use, in addition to the limits of its steps.
    public func limits(_ limits: Limit...) -> Workflow {
        var copy = self
        copy.declaration.limits = Limits(limits).or(declaration.limits)
        return copy
    }

    /// The steps of the graph for `context`: those that are listed, and all that they need.
    func steps(_ context: PlanContext) -> [Step] { StepGraph(listing: listed(context)).steps }

    /// The graph for `context`, not yet validated.
    public func plan(for context: PlanContext) -> Plan {
        let steps = steps(context)
        let shards = Dictionary(
            steps.compactMap { step in step.division.map { (step.name, $0) } }, uniquingKeysWith: { $1 })
        return Plan(
            workflow: declaration.name, failFast: declaration.failFast, limits: declaration.limits,
            steps: steps.map { $0.planned.onMachine(with: declaration.machine) }.divided(shards))
    }
}

/// A workflow without its steps: what the daemon reads to decide which runs a ref change starts.
public struct WorkflowDeclaration: Sendable, Equatable, Codable {
    /// Unique in the repository.
    public var name: String
    /// What starts a run; any of them is enough.
    public var triggers: [Trigger]
    /// The values that `pipectl run --param` may set.
    public var parameters: [ParameterDeclaration]
    /// Whether the graph depends on the ``PlanContext``. If not, the plan is the same for every run.
    public var readsContext: Bool
    /// What happens to older runs; nil: the default for the kind of run.
    public var concurrency: Concurrency?
    /// Whether the first failed step cancels the steps that are still running.
    public var failFast = false
    /// Whether open changes are tested again when their target moves.
    public var retestsStaleChanges = false
    /// Limits of each run.
    public var limits = Limits()
    /// Whether the daemon searches for the commit that broke a test when the branch fails. Nil means no.
    public var bisectsWhenRed: Bool?
    /// Which runs wait for an approval before their first step; nil: none.
    public var approval: ApprovalRule?
    /// The rules about weakened tests; nil: no rules.
    public var integrity: [IntegrityRule]?
    /// The quarantined tests; nil: none.
    public var quarantine: [Quarantine]?
    /// How the daemon tries to fix a change that fails; nil: it does not.
    public var fix: Fix?
    /// What its steps need of a machine; nil: any machine will do.
    public var machine: MachineNeeds?

    /// A workflow with these triggers; everything else is as it is without a modifier.
    public init(
        name: String, triggers: [Trigger], parameters: [ParameterDeclaration] = [], readsContext: Bool = false
    ) {
        self.name = name
        self.triggers = triggers
        self.parameters = parameters
        self.readsContext = readsContext
    }

    /// Whether runs act on the outside world, as releases do. The daemon never repeats such a run by itself.
    ///
    /// True for workflows that a merge or a tag starts and no change does.
    public var runsAtMostOnce: Bool {
        triggers.contains { [.merge, .tag].contains($0.event) }
            && !triggers.contains { $0.event == .pullRequest }
    }
}
