/// A step in which a command, such as an agent's, reviews the change: `Review(by: "agent review", rules: ["AGENTS.md"])`.
///
/// The command finds the change, the rules and its earlier findings on standard input and answers with JSON on standard
/// output: docs/review.md has both. It sees only what is new since it last looked; what it finds is said once. A command
/// that fails, takes too long or says anything else is a failure of the box and never a pass.
public struct Review: Sendable {
    /// The step, for `needs:` and for modifiers such as `.network(.allowed)`.
    public let step: Step

    /// - Parameters:
    ///   - line: For `/bin/sh -e`.
    ///   - rules: Files that say what is looked at, as the target has them: a change can't rewrite what it is judged by.
    ///   - maximum: Findings that are kept of one look, the most severe first.
    ///   - gate: Findings of this severity or a greater one fail the step while they are open; nil: none does.
    ///   - limit: How long the command may take.
    public init(
        _ name: String = "review", needs: [Step] = [], by line: String, rules: [String] = [], maximum: Int = 20,
        gate: ReviewSeverity? = .error, within limit: Duration = .minutes(10)
    ) {
        var step = Step(name, needs, .command(["/bin/sh", "-c", Review.wrapper, line])).timeout(limit).neverProved()
        step.planned.review = ReviewPlan(command: line, rules: rules, maximum: maximum, gate: gate)
        self.step = step
    }

    /// Ends the command when it has said too much, and ends as it did.
    private static let wrapper = """
        out=$PIPECTL_VALUES_OUT
        { rc=0; /bin/sh -ec "$0" < "$PIPECTL_REVIEW_PROMPT" || rc=$?; echo "$rc" > "$out/code"; } \
        | head -c \(ReviewPlan.answerBytes + 1) > "$out/review.json"
        exit "$(cat "$out/code")"
        """
}

/// How much a finding of a review matters.
public enum ReviewSeverity: String, Sendable, Codable, CaseIterable, Comparable {
    case note, warning, error

    public static func < (one: ReviewSeverity, other: ReviewSeverity) -> Bool {
        let order = allCases
        return order.firstIndex(of: one) ?? 0 < order.firstIndex(of: other) ?? 0
    }
}

/// What a review step asks for.
public struct ReviewPlan: Sendable, Equatable, Codable {
    /// Bytes of an answer, at most.
    public static let answerBytes = 256 << 10

    /// The line as the workflow has it.
    public var command: String
    public var rules: [String]
    public var maximum: Int
    public var gate: ReviewSeverity?

    public init(command: String, rules: [String], maximum: Int, gate: ReviewSeverity?) {
        self.command = command
        self.rules = rules
        self.maximum = maximum
        self.gate = gate
    }
}
