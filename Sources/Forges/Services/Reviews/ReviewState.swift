public import Diagnostics

/// All findings of reviews of one change: the complete state that the forge should show.
public struct ReviewState: Sendable, Equatable, Codable {
    /// A finding of a reviewer.
    public struct Remark: Sendable, Equatable, Codable {
        /// Identifies the finding across pushes, so that it is posted only once.
        public var fingerprint: String
        /// The position of the comment; nil for findings about the whole change or about lines that the change does not
        /// show.
        public var place: ChangeDelta.Place?
        /// How many lines above `place.line` the finding also covers.
        public var linesBefore: Int
        /// The text, as Markdown.
        public var text: String
        /// The text that would replace the lines; nil if the reviewer suggests none.
        public var replacement: String?
        /// Whether the reviewer reports that a later push fixed the finding, or withdrew it.
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
    /// The head commit to which the positions belong.
    public var commit: String
    public var remarks: [Remark]

    public init(change: Int, commit: String, remarks: [Remark]) {
        self.change = change
        self.commit = commit
        self.remarks = remarks
    }
}
