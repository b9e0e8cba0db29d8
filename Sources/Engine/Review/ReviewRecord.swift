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
