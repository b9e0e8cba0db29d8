/// The entry point of a repository's workflows: list them, and `@main` does the rest.
///
/// ```swift
/// @main struct Workflows: WorkflowSet { static let workflows = [test, release] }
/// ```
public protocol WorkflowSet {
    /// ``Landing``, or a list of them.
    associatedtype Landings: LandingDeclaring = [Landing]

    /// All workflows of the repository.
    static var workflows: [Workflow] { get }
    /// How changes land: one ``Landing``, or a list with one for each branch. Without it, `pipectl land` lands nothing.
    static var landing: Landings { get }
}

extension WorkflowSet where Landings == [Landing] {
    /// No change lands by `pipectl land`.
    public static var landing: [Landing] { [] }
}

extension WorkflowSet {
    /// Answers the requests of pipectl: see ``ProgramRequest``.
    ///
    /// It is `@concurrent`, because `@main` does not find a `nonisolated(nonsending)` function (Swift 6.3).
    @concurrent public static func main() async {
        await Program(workflows: workflows, landings: landing.declarations).run(CommandLine.arguments)
    }
}
