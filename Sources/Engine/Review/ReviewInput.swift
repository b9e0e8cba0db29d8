public import Results

/// The input of a review step.
public struct ReviewInput: Sendable, Equatable {
    /// The commit to review.
    public var head: String
    /// The last reviewed commit of the change; nil if there is none.
    public var since: String?
    /// Findings of earlier reviews of the same change.
    public var earlier: [ReviewFinding]
    /// Whether the head was reviewed before. Then nothing runs, and the earlier findings stand.
    public var isKnown: Bool
    /// The folders for the review, with the tested files in its workspace; nil if nothing runs.
    public var room: ReviewRoom?

    public init(head: String, since: String?, earlier: [ReviewFinding], isKnown: Bool) {
        self.head = head
        self.since = since
        self.earlier = earlier
        self.isKnown = isKnown
    }

    /// The names of the prompt and of its data, which lie beside each other in the folder of values that steps read.
    public static func promptName(_ step: String) -> String { "\(step).review.md" }
    public static func dataName(_ step: String) -> String { "\(step).review.json" }
}
