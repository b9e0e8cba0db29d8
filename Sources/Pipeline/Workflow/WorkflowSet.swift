/// The entry point of a repository's workflows: list them, and `@main` does the rest.
///
/// ```swift
/// @main struct Workflows: WorkflowSet { static let workflows = [test, release] }
/// ```
public protocol WorkflowSet {
    static var workflows: [Workflow] { get }
}

extension WorkflowSet {
    /// Answers pipectl's questions about the workflows: see ``ProgramRequest``.
    ///
    /// `@concurrent`, because `@main` doesn't find a `nonisolated(nonsending)` one (Swift 6.3).
    @concurrent public static func main() async {
        await Program(workflows: workflows).run(CommandLine.arguments)
    }
}
