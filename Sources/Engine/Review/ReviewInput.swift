public import Results

/// What a review step begins with.
public struct ReviewInput: Sendable, Equatable {
    public var head: String
    public var since: String?
    /// Found earlier in the same change.
    public var earlier: [ReviewFinding]
    /// Whether the head was looked at before: then nothing is run, and what was found stands.
    public var isKnown: Bool
    /// Where it works, with the tested files in it; nil where nothing is run.
    public var room: ReviewRoom?

    public init(head: String, since: String?, earlier: [ReviewFinding], isKnown: Bool) {
        self.head = head
        self.since = since
        self.earlier = earlier
        self.isKnown = isKnown
    }

    /// Beside each other in the folder of values that steps read.
    public static func promptName(_ step: String) -> String { "\(step).review.md" }
    public static func dataName(_ step: String) -> String { "\(step).review.json" }
}
