/// The entry point of a repository's workflows: list them, and `@main` does the rest.
///
/// ```swift
/// @main struct Workflows: WorkflowSet { static let workflows = [test, release] }
/// ```
public protocol WorkflowSet {
    /// ``Landing``, or a list of them.
    associatedtype Landings: LandingDeclaring = [Landing]
    /// ``Tasks``, or nothing.
    associatedtype TaskRules: TasksDeclaring = NoTasks

    /// All workflows of the repository.
    static var workflows: [Workflow] { get }
    /// How changes land: one ``Landing``, or a list with one for each branch. Without it, `pipectl land` lands nothing.
    static var landing: Landings { get }
    /// What agents are given to do. Without it, `pipectl task` makes no tasks.
    static var tasks: TaskRules { get }
    /// The rules of the repository that a machine can check in every change. Without it, none are.
    static var rules: [Rule] { get }
}

extension WorkflowSet where Landings == [Landing] {
    /// No change lands by `pipectl land`.
    public static var landing: [Landing] { [] }
}

extension WorkflowSet where TaskRules == NoTasks {
    /// Agents are given no tasks.
    public static var tasks: NoTasks { NoTasks() }
}

extension WorkflowSet {
    /// No rules are checked.
    public static var rules: [Rule] { [] }

    /// Answers the requests of pipectl: see ``ProgramRequest``.
    ///
    /// It is `@concurrent`, because `@main` does not find a `nonisolated(nonsending)` function (Swift 6.3).
    @concurrent public static func main() async {
        let program = Program(
            workflows: workflows, landings: landing.declarations, tasks: tasks.tasksDeclaration, rules: rules)
        await program.run(CommandLine.arguments)
    }
}
