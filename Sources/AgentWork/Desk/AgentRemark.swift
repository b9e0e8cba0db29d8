package import Foundation

/// What a person says while an agent works.
package struct AgentRemark: Sendable, Equatable, Codable {
    /// In the task's history; later ones have greater numbers.
    package var number: Int
    package var at: Date
    package var by: String?
    package var text: String

    package init(number: Int, at: Date, by: String?, text: String) {
        self.number = number
        self.at = at
        self.by = by
        self.text = text
    }
}
