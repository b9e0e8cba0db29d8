/// The entry point of a repository's workflows: list them, and `@main` does the rest.
///
/// ```swift
/// @main struct Workflows: WorkflowSet { static let workflows = [test, release] }
/// ```
public protocol WorkflowSet {
    /// All workflows of the repository.
    static var workflows: [Workflow] { get }
}

extension WorkflowSet {
    /// Answers the requests of pipectl: see ``ProgramRequest``.
    ///
    /// It is `@concurrent`, because `@main` does not find a `nonisolated(nonsending)` function (Swift 6.3).
    @concurrent public static func main() async {
        await Program(workflows: workflows).run(CommandLine.arguments)
    }
}
