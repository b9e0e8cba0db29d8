public import Foundation
import Results
import TerminalText

/// The JSON form of a report: sorted keys, times as ISO 8601 in UTC with milliseconds. See `docs/report.md`.
public enum ReportJSON {
    /// An encoder for reports.
    public static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601Milliseconds
        return encoder
    }

    /// Reads what ``encoder()`` writes. Times without a fraction are accepted, too.
    public static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601Milliseconds
        return decoder
    }
}

extension ReportDocument {
    /// The report's own keys, and `tests` beside them, in one object.
    private struct Flat: Encodable {
        enum Key: String, CodingKey { case tests }
        let document: ReportDocument

        func encode(to encoder: any Encoder) throws {
            try document.report.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(document.tests, forKey: .tests)
        }
    }

    func renderJSON() -> String {
        let encoder = ReportJSON.encoder()
        // JSON has no infinity, but a result file may claim that a test took one.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        do {
            return VisibleJSON.text(try encoder.encode(Flat(document: self))) + "\n"
        } catch {
            // Unreachable, because every value is a string, number, array or object of those. A reader would refuse the
            // empty object with a clear message.
            return "{}\n"
        }
    }
}
