/// Where the findings of a step are read from: what a compiler, linter or checker says about files.
///
/// A step that fails is read for the errors of the usual tools in any case; these are for what is also to be read when
/// it passes, and for tools that speak otherwise.
public enum FindingSource: Sendable, Equatable, Codable {
    /// SARIF 2.1.0 files, as a glob below the workspace.
    case sarif(String)
    /// What it prints, in the forms of swiftc, clang, gcc, SwiftLint, swift-format, Python and others.
    case output
    /// What it prints, by a rule of your own.
    case matching(FindingRule)
}

/// What a line of a tool looks like, as a template: `"{file}:{line}: {severity} {rule}: {message}"`.
///
/// | Field | Holds |
/// | --- | --- |
/// | `{file}`, `{message}`, `{rule}` | any text, as short as the rest of the template allows |
/// | `{line}`, `{column}` | digits |
/// | `{severity}` | `error`, `warning`, `note`, `info`, or their first letter, in any case |
/// | `{*}` | any text, which is passed over |
///
/// A space in a template stands for one or more. Several templates are for tools whose findings take several lines: each
/// is for the next line, and the last one may match any number of lines after the others.
public struct FindingRule: Sendable, Equatable, Codable {
    /// What its findings are called unless `{rule}` says so.
    public var name: String
    /// At least one; the last has `{message}` or all of them have together.
    public var templates: [String]
    /// `error`, `warning` or `note`, where no `{severity}` says so.
    public var severity: String

    public init(_ name: String, _ templates: String..., severity: String = "error") {
        self.name = name
        self.templates = templates
        self.severity = severity
    }
}

extension FindingRule {
    /// Why the rule could find nothing, or more than it should; nil for one that is fine.
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
