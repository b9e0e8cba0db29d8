/// The answer to a step that waits for an approval.
public struct ApprovalDecision: Sendable, Equatable {
    /// False: the step was rejected.
    public var isApproved: Bool
    /// The login name of the person who answered.
    public var by: String
    /// The person's reason. Any text.
    public var comment: String?

    public init(isApproved: Bool, by: String, comment: String? = nil) {
        self.isApproved = isApproved
        self.by = by
        self.comment = comment
    }
}
