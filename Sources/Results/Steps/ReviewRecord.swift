public import Pipeline

/// A finding of a reviewer, and what became of it.
public struct ReviewFinding: Sendable, Equatable, Codable {
    /// What became of a finding.
    public enum Fate: String, Sendable, Codable {
        /// It stands, and counts for the gate.
        case open
        /// The reviewer says that a later commit fixed it.
        case fixed
        /// The reviewer withdrew it. It is not reported again.
        case withdrawn
    }

    /// The same for the same finding about the same file, at any line: 16 hexadecimal digits.
    public var fingerprint: String
    /// How much it matters, as the reviewer says.
    public var severity: ReviewSeverity
    /// The kind of finding, as the reviewer names it.
    public var rule: String
    /// What is wrong. Untrusted text.
    public var message: String
    /// Relative to the repository; nil if it is about the whole change.
    public var file: String?
    /// The line in ``file``, from 1.
    public var line: Int?
    /// The last line that it is about; nil if it is about ``line`` alone.
    public var endLine: Int?
    /// The text to put in place of the lines; nil if the reviewer gives none. Untrusted text.
    public var replacement: String?
    /// What to do about it, as the reviewer says.
    public var suggestion: String?
    /// What became of it.
    public var fate: Fate
    /// The head commit in which it was found.
    public var head: String

    public init(
        fingerprint: String, severity: ReviewSeverity, rule: String, message: String, file: String? = nil,
        line: Int? = nil, endLine: Int? = nil, suggestion: String? = nil, replacement: String? = nil,
        fate: Fate = .open, head: String
    ) {
        self.fingerprint = fingerprint
        self.severity = severity
        self.rule = rule
        self.message = message
        self.file = file
        self.line = line
        self.endLine = endLine
        self.replacement = replacement
        self.suggestion = suggestion
        self.fate = fate
        self.head = head
    }
}

/// What a review step has reviewed, and all its findings about the change so far.
public struct ReviewRecord: Sendable, Equatable, Codable {
    /// The newest head commit that was reviewed.
    public var head: String
    /// The commit that the head was compared with; nil if the whole change was reviewed.
    public var since: String?
    /// All findings about the change so far, in the order in which they were found.
    public var findings: [ReviewFinding]
    /// The number of findings of the last review that exceeded the maximum and were not kept.
    public var leftOut: Int

    public init(head: String, since: String?, findings: [ReviewFinding] = [], leftOut: Int = 0) {
        self.head = head
        self.since = since
        self.findings = findings
        self.leftOut = leftOut
    }

    /// The findings that fail a step with this gate.
    public func open(at gate: ReviewSeverity?) -> [ReviewFinding] {
        guard let gate else { return [] }
        return findings.filter { $0.fate == .open && $0.severity >= gate }
    }
}
