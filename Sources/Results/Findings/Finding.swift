/// Something to tell the reader of a report that is not a test: a broken result file, a warning, an advice.
public struct Finding: Sendable, Equatable, Codable {
    /// How much it matters.
    public enum Severity: String, Codable, Sendable {
        case error, warning, note
    }

    /// What kind of finding it is, for filters: `result-file`, or a linter's own rule.
    public var rule: String

    /// How much it matters.
    public var severity: Severity

    /// What is wrong, with the value; may quote untrusted text.
    public var message: String

    /// The file it is about, as written.
    public var file: String?

    /// The line in ``file``, from 1.
    public var line: Int?

    /// The column in ``line``, from 1, in the unit of the tool that said so.
    public var column: Int?

    /// What to do next.
    public var suggestion: String?

    /// The step that it is about or came from; nil for one of the run.
    public var step: String?

    /// Lines that the tool printed with it: the code it points at, for example. Untrusted, at most a few.
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
    /// What makes it the same finding at another commit: its rule, file and message, without numbers, since lines move.
    public var fingerprint: String {
        let words = message.split(separator: "\n").first.map(String.init) ?? ""
        let stable = words.unicodeScalars.filter { !("0"..."9").contains($0) }
        return "\(rule)|\(file ?? "")|\(String(String.UnicodeScalarView(stable)).prefix(300))"
    }
}
