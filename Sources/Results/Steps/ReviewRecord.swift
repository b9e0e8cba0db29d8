public import Pipeline

/// What a reviewer found in one place, and what became of it.
public struct ReviewFinding: Sendable, Equatable, Codable {
    public enum Fate: String, Sendable, Codable {
        /// It stands, and counts against the gate.
        case open
        /// The reviewer says that a later commit has mended it.
        case fixed
        /// The reviewer takes it back; it is not raised again.
        case withdrawn
    }

    /// The same for the same remark about the same file, wherever in it: 16 hexadecimal digits.
    public var fingerprint: String
    public var severity: ReviewSeverity
    public var rule: String
    public var message: String
    public var file: String?
    public var line: Int?
    public var suggestion: String?
    public var fate: Fate
    /// The head in which it was found.
    public var head: String

    public init(
        fingerprint: String, severity: ReviewSeverity, rule: String, message: String, file: String? = nil,
        line: Int? = nil, suggestion: String? = nil, fate: Fate = .open, head: String
    ) {
        self.fingerprint = fingerprint
        self.severity = severity
        self.rule = rule
        self.message = message
        self.file = file
        self.line = line
        self.suggestion = suggestion
        self.fate = fate
        self.head = head
    }
}

/// What a review step has looked at, and all that it found in the change so far.
public struct ReviewRecord: Sendable, Equatable, Codable {
    /// The newest head that was looked at.
    public var head: String
    /// The commit from which the difference was; nil if the whole change was looked at.
    public var since: String?
    public var findings: [ReviewFinding]
    /// Findings of this look beyond the maximum, which were not kept.
    public var leftOut: Int

    public init(head: String, since: String?, findings: [ReviewFinding] = [], leftOut: Int = 0) {
        self.head = head
        self.since = since
        self.findings = findings
        self.leftOut = leftOut
    }

    /// Those that count against a gate.
    public func open(at gate: ReviewSeverity?) -> [ReviewFinding] {
        guard let gate else { return [] }
        return findings.filter { $0.fate == .open && $0.severity >= gate }
    }
}
