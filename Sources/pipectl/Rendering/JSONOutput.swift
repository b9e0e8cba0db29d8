import Foundation
import TerminalText

/// JSON on standard output: sorted keys, ISO 8601 times in UTC.
enum JSONOutput {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return VisibleJSON.text(try encoder.encode(value))
    }

    static func print(_ value: some Encodable) throws { Terminal.print(try text(value)) }
}
