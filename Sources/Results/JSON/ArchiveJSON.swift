internal import Foundation

/// JSON in the archive's form: sorted keys, dates in ISO 8601 with milliseconds, in UTC.
package enum ArchiveJSON {
    /// Indented JSON with a line feed at its end. Throws an `EncodingError`.
    package static func pretty(_ value: some Encodable) throws -> [UInt8] {
        let encoder = encoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(value)) + [0x0A]
    }

    /// JSON on one line. Throws an `EncodingError`.
    package static func compactText(_ value: some Encodable) throws -> String {
        let encoder = encoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Reads JSON. Throws a `DecodingError`, also for a time in another form.
    package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try decoder().decode(type, from: Data(bytes))
    }

    /// Reads JSON. Throws a `DecodingError`, also for a time in another form.
    package static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try decoder().decode(type, from: Data(text.utf8))
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601Milliseconds
        return encoder
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601Milliseconds
        return decoder
    }
}
