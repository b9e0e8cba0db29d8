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
    package static let file = ".findings.jsonl"

    package var rule: String
    package var severity: String
    package var message: String
    package var file: String?
    package var line: Int?
    package var column: Int?
    package var suggestion: String?
}
