/// Where a step's findings are read from: what a compiler, linter or checker says about files.
///
/// When a step fails, its output is always searched for the errors of common tools. Declare a source to read findings
/// of passed steps too, or to read the output of other tools.
public enum FindingSource: Sendable, Equatable, Codable {
    /// SARIF 2.1.0 files, as a glob below the workspace.
    case sarif(String)
    /// SARIF 2.1.0 files, like ``sarif(_:)``, which are also sent to GitHub's code scanning.
    ///
    /// They are sent when the run has ended, for the pushed commit, if the repository is connected with GitHub and the
    /// credential may do it (`security_events: write`). `pipectl forge status` shows what GitHub refused. Paths in them
    /// should be relative to the repository.
    case codeScanning(String)
    /// The step's output, in the formats of swiftc, clang, gcc, SwiftLint, swift-format, Python and others.
    case output
    /// The step's output, by a rule of your own.
    case matching(FindingRule)
}

extension FindingSource {
    /// The glob of SARIF files, wherever they go; nil for other sources.
    package var sarifGlob: String? {
        switch self {
        case .sarif(let glob), .codeScanning(let glob): glob
        case .output, .matching: nil
        }
    }
}

/// The format of a tool's output line, as a template: `"{file}:{line}: {severity} {rule}: {message}"`.
///
/// | Field | Holds |
/// | --- | --- |
/// | `{file}`, `{message}`, `{rule}` | any text, as short as the rest of the template allows |
/// | `{line}`, `{column}` | digits |
/// | `{severity}` | `error`, `warning`, `note`, `info`, or their first letter, in any case |
/// `{*}`
/// any text, which is ignored |
///
/// A space in a template matches one or more spaces. Use several templates for tools that print a finding on several
/// lines: each matches the next line, and the last one also any number of lines that follow.
public struct FindingRule: Sendable, Equatable, Codable {
    /// The findings' rule name where no `{rule}` gives one.
    public var name: String
    /// At least one. The last template has `{message}`, or all of them have it together.
    public var templates: [String]
    /// `error`, `warning` or `note`, used where no `{severity}` gives it.
    public var severity: String

    /// A rule with one template for each line of a finding.
    public init(_ name: String, _ templates: String..., severity: String = "error") {
        self.name = name
        self.templates = templates
        self.severity = severity
    }
}

extension FindingRule {
    /// Why the rule could match nothing, or too much; nil for a usable rule.
    package var problem: String? {
        let name = "the finding rule \"\(name)\""
        if self.name.isEmpty { return "a finding rule has no name" }
        if templates.isEmpty { return "\(name) has no template; write \"{file}:{line}: {message}\", for example" }
        if templates.count > 8 { return "\(name) has \(templates.count) templates; the limit is 8" }
        if templates.contains(where: { $0.utf8.count > 300 }) { return "\(name) has a template of more than 300 bytes" }
        if !templates.contains(where: { $0.contains("{message}") || $0.contains("{rule}") }) {
            return "\(name) has neither {message} nor {rule}, so its findings would have no text"
        }
        if let template = templates.first(where: { $0.contains("}{") }) {
            return "\(name) has two fields without anything between them in \"\(template)\""
        }
        guard ["error", "warning", "note"].contains(severity) else {
            return "\(name) has the severity \"\(severity)\"; it takes error, warning or note"
        }
        return nil
    }
}
