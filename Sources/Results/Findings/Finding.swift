/// A remark in a report that is not a test result: a broken result file, a warning, advice.
public struct Finding: Sendable, Equatable, Codable {
    /// How much it matters.
    public enum Severity: String, Codable, Sendable {
        case error, warning, note
    }

    /// The kind of finding, for filters: `result-file`, or a linter's rule.
    public var rule: String

    /// How much it matters.
    public var severity: Severity

    /// What is wrong, with the value. It may quote untrusted text.
    public var message: String

    /// The file that the finding is about, as the tool wrote it.
    public var file: String?

    /// The line in ``file``, from 1.
    public var line: Int?

    /// The column in ``line``, from 1, in the unit of the tool that reported it.
    public var column: Int?

    /// What to do next.
    public var suggestion: String?

    /// The step that the finding is about or came from; nil if it is about the run.
    public var step: String?

    /// Lines that the tool printed with the finding, such as the code that it points at. Untrusted text of a few lines.
    public var excerpt: String?

    public init(
        rule: String,
        severity: Severity,
        message: String,
        file: String? = nil,
        line: Int? = nil,
        column: Int? = nil,
        suggestion: String? = nil,
        step: String? = nil,
        excerpt: String? = nil
    ) {
        self.rule = rule
        self.severity = severity
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.suggestion = suggestion
        self.step = step
        self.excerpt = excerpt
    }
}

extension Finding {
    /// Identifies the same finding at another commit: rule, file and message, without numbers, because lines move.
    public var fingerprint: String {
        let words = message.split(separator: "\n").first.map(String.init) ?? ""
        let stable = words.unicodeScalars.filter { !("0"..."9").contains($0) }
        return "\(rule)|\(file ?? "")|\(String(String.UnicodeScalarView(stable)).prefix(300))"
    }
}
