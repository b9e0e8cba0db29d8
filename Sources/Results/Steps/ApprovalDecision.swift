/// A person's word on a step that waits for it.
public struct ApprovalDecision: Sendable, Equatable {
    public var isApproved: Bool
    /// The login name of who said it.
    public var by: String
    /// Why, in their words.
    public var comment: String?

    public init(isApproved: Bool, by: String, comment: String? = nil) {
        self.isApproved = isApproved
        self.by = by
        self.comment = comment
    }
}
