/// The requests that pipectl makes to a compiled workflow program, as its first argument.
///
/// The program writes its answer as JSON to the file given with `--output`. What the workflow prints while it is
/// planned goes to the program's own streams. Exit code 0 means that it has answered.
public enum ProgramRequest: String, Sendable, Codable, CaseIterable {
    /// `describe --output FILE`: a ``ProgramDescription``.
    case describe
    /// `plan --workflow NAME --context FILE --output FILE`: a ``Plan``.
    case plan
    /// `step --workflow NAME --step NAME --context FILE`: runs a closure step.
    case step
}

/// A workflow program's description of itself.
public struct ProgramDescription: Sendable, Equatable, Codable {
    /// The ``Plan/formatVersion-swift.type.property`` that the program was compiled with.
    public var formatVersion = Plan.formatVersion
    /// All workflows that it defines.
    public var workflows: [WorkflowDeclaration]
    /// How changes land in branches; nil: no landing is declared.
    public var landings: [LandingDeclaration]?
    /// What agents are given to do; nil: nothing.
    public var tasks: TasksDeclaration?
    /// The rules that a machine can check; nil: none.
    public var rules: [Rule]?

    /// A description in the present ``formatVersion``.
    public init(
        workflows: [WorkflowDeclaration], landings: [LandingDeclaration]? = nil, tasks: TasksDeclaration? = nil,
        rules: [Rule]? = nil
    ) {
        self.workflows = workflows
        self.landings = landings
        self.tasks = tasks
        self.rules = rules
    }
}
