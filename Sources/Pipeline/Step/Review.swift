/// A step in which a command, such as an agent's, reviews the change: `Review(by: "agent review", rules:
/// ["AGENTS.md"])`.
///
/// The command reads the change, the rules and its earlier findings on standard input and answers with JSON on standard
/// output: docs/review.md describes both. It is shown only what is new since its last review, and each finding is
/// reported once. A command that fails, times out or answers anything else ends the step as an infrastructure failure,
/// never as passed.
public struct Review: Sendable {
    /// The step, for `needs:` and for modifiers such as `.network(.allowed)`.
    public let step: Step

    /// Makes the step. Its default name is "review".
    ///
    /// - Parameters:
    ///   - name: Unique in the workflow.
    ///   - needs: Steps that must pass before the review.
    ///   - line: A line for `/bin/sh -e`.
    ///   - rules: Files with the review's rules. They are read from the target, so that a change can't rewrite them.
    ///   - maximum: The most findings that are kept of one review; the most severe ones are kept.
    ///   - gate: Open findings of this severity or a greater one fail the step. Nil: no finding fails it.
    ///   - limit: The longest time that the command may take.
    public init(
        _ name: String = "review", needs: [Step] = [], by line: String, rules: [String] = [], maximum: Int = 20,
        gate: ReviewSeverity? = .error, within limit: Duration = .minutes(10)
    ) {
        var step = Step(name, needs, .command(["/bin/sh", "-c", Review.wrapper, line])).timeout(limit).neverProved()
        step.planned.review = ReviewPlan(command: line, rules: rules, maximum: maximum, gate: gate)
        self.step = step
    }

    /// Ends the command when its answer is too long, and keeps its exit code.
    private static let wrapper = """
        out=$PIPECTL_VALUES_OUT
        { rc=0; /bin/sh -ec "$0" < "$PIPECTL_REVIEW_PROMPT" || rc=$?; echo "$rc" > "$out/code"; } \
        | head -c \(ReviewPlan.answerBytes + 1) > "$out/review.json"
        exit "$(cat "$out/code")"
        """
}
