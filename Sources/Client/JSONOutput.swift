import Results
import Foundation
import TerminalText

/// The JSON format of every command and tool: sorted keys, ISO 8601 times in UTC.
package enum JSONOutput {
    /// The value as indented JSON. Throws an `EncodingError`.
    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601Seconds
        return VisibleJSON.text(try encoder.encode(value))
    }
}
