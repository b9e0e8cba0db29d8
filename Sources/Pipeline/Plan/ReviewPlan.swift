/// How much a finding of a review matters.
public enum ReviewSeverity: String, Sendable, Codable, CaseIterable, Comparable {
    /// A remark.
    case note
    /// Something that should be changed.
    case warning
    /// Something that must be changed.
    case error

    /// A note is less than a warning, and a warning is less than an error.
    public static func < (one: ReviewSeverity, other: ReviewSeverity) -> Bool {
        let order = allCases
        return order.firstIndex(of: one) ?? 0 < order.firstIndex(of: other) ?? 0
    }
}

/// The settings of a review step, as part of a ``PlannedStep``.
public struct ReviewPlan: Sendable, Equatable, Codable {
    /// The longest answer, in bytes.
    public static let answerBytes = 256 << 10

    /// The shell line as the workflow gives it.
    public var command: String
    /// Paths of the files with the review's rules.
    public var rules: [String]
    /// The most findings that are kept of one review.
    public var maximum: Int
    /// The lowest severity that fails the step; nil: none does.
    public var gate: ReviewSeverity?

    /// The settings of a review. Without a `gate`, no finding fails the step.
    public init(command: String, rules: [String], maximum: Int, gate: ReviewSeverity?) {
        self.command = command
        self.rules = rules
        self.maximum = maximum
        self.gate = gate
    }
}
