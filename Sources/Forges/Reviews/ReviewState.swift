/// What a review says about a change so far: the state to show, complete by itself.
public struct ReviewState: Sendable, Equatable, Codable {
    /// A finding of a reviewer.
    public struct Remark: Sendable, Equatable, Codable {
        /// Stays the same from push to push. It is said once.
        public var fingerprint: String
        /// Where it is said; nil for the whole change, and for lines that the change does not show.
        public var place: ChangeDelta.Place?
        /// How many lines before `place.line` it also covers.
        public var linesBefore: Int
        /// Markdown.
        public var text: String
        /// What to put in place of the lines; nil if the reviewer has no text for them.
        public var replacement: String?
        /// Whether the reviewer says that a later push mended it, or took it back.
        public var isSettled: Bool

        public init(
            fingerprint: String, place: ChangeDelta.Place? = nil, linesBefore: Int = 0, text: String,
            replacement: String? = nil, isSettled: Bool = false
        ) {
            self.fingerprint = fingerprint
            self.place = place
            self.linesBefore = linesBefore
            self.text = text
            self.replacement = replacement
            self.isSettled = isSettled
        }
    }

    /// The change's number.
    public var change: Int
    /// The head that the places are about.
    public var commit: String
    public var remarks: [Remark]

    public init(change: Int, commit: String, remarks: [Remark]) {
        self.change = change
        self.commit = commit
        self.remarks = remarks
    }
}
