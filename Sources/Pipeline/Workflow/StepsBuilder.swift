/// Collects the steps of a workflow into flat arrays, which are easy to type-check.
///
/// Type-checking time still grows with the square of the lines in one block: about a second for 250 steps. A `for` is
/// one line however often it runs, and a long list can be split with `@StepsBuilder func part() -> [Step]`.
@resultBuilder
public enum StepsBuilder {
    /// A step.
    public static func buildExpression(_ step: Step) -> [Step] { [step] }
    /// Several steps, such as the result of a function.
    public static func buildExpression(_ steps: [Step]) -> [Step] { steps }
    /// A review's step.
    public static func buildExpression(_ review: Review) -> [Step] { [review.step] }
    /// The step that makes a release.
    public static func buildExpression(_ release: Release) -> [Step] { [release.step] }
    /// Lets a workflow `print` while it is planned.
    public static func buildExpression(_ nothing: Void) -> [Step] { [] }
    /// All lines of a block, in their order.
    public static func buildBlock(_ parts: [Step]...) -> [Step] { Array(parts.joined()) }
    /// `if` without `else`.
    public static func buildOptional(_ part: [Step]?) -> [Step] { part ?? [] }
    /// `if` with `else`, and `switch`.
    public static func buildEither(first part: [Step]) -> [Step] { part }
    /// The other branch of ``buildEither(first:)``.
    public static func buildEither(second part: [Step]) -> [Step] { part }
    /// `for`.
    public static func buildArray(_ parts: [[Step]]) -> [Step] { Array(parts.joined()) }
    /// `if #available`.
    public static func buildLimitedAvailability(_ part: [Step]) -> [Step] { part }

    /// Unavailable: a command is not a step.
    @available(*, unavailable, message: "a workflow holds steps: write Step(\"name\", run: \"…\")")
    public static func buildExpression(_ command: String) -> [Step] { [] }
    /// Unavailable: a workflow holds steps, not workflows.
    @available(*, unavailable, message: "a workflow holds steps, not workflows: list workflows in your WorkflowSet")
    public static func buildExpression(_ workflow: Workflow) -> [Step] { [] }
}
