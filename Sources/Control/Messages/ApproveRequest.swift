public import Results

/// A person's answer for a run or a step that needs approval.
public struct ApproveRequest: Sendable, Codable {
    /// The waiting run.
    public var run: RunID
    /// The step; nil for the run itself.
    public var step: String?
    /// Whether it is rejected instead of approved.
    public var isRejected: Bool
    /// The person's reason, in their words.
    public var comment: String?

    public init(run: RunID, step: String? = nil, isRejected: Bool = false, comment: String? = nil) {
        self.run = run
        self.step = step
        self.isRejected = isRejected
        self.comment = comment
    }
}
