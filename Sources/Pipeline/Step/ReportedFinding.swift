/// How much a finding matters.
public enum FindingSeverity: String, Sendable, Codable {
    /// Something is wrong.
    case error
    /// Something is probably wrong.
    case warning
    /// A fact to know.
    case note
}

/// A finding that a closure step reports: one JSON object on a line of ``file`` in the folder of the step's values.
package struct ReportedFinding: Sendable, Codable {
    /// The file's name.
    package static let file = ".findings.jsonl"

    /// The rule's name.
    package var rule: String
    /// ``FindingSeverity`` as text.
    package var severity: String
    /// What is wrong.
    package var message: String
    /// The file's path, as the step gave it.
    package var file: String?
    /// From 1.
    package var line: Int?
    /// From 1.
    package var column: Int?
    /// How to correct it.
    package var suggestion: String?
}
